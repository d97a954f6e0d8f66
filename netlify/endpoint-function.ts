// netlify/endpoint-function.ts: a Netlify function that answers at the endpoints of a capability.
import { createEndpoints, type Handlers } from "../plugin/host/endpoints.js";
import type { ServiceOptions } from "../plugin/host/service-options.js";
import { attempt } from "../plugin/host/work.js";
import { toResponse } from "../plugin/http/respond.js";
import { later, once } from "../plugin/later.js";
import { readPrefix } from "../plugin/site/routes.js";
import type { HostSettings, SitePages } from "../plugin/site/site.js";
import { byPlace, type Deploy, isLocal } from "./environment.js";

/** Netlify's context of a request. */
interface Context {
  deploy: Deploy;
  ip?: string;
  /** Keeps the function alive after its answer. */
  waitUntil?(work: Promise<void>): void;
}

/** Loaded when the first client posts: listing needs no addresses, and must start fast. */
const clientKeys = later(() => import("../plugin/host/client-key.js"));

/** `netlify dev` repeats a request that was answered with 403 or 404 with this suffix, and returns the second answer. */
const REPEAT_SUFFIX = /(?:\/index)?\.html?$/;

/**
 * @param handlersOf - the handlers of one capability; `onStored` notifies the author
 * @returns what a generated function calls with its site; the result is the function
 */
export function endpointFunction(handlersOf: (options: ServiceOptions, onStored: () => void) => Handlers) {
  return (settings: HostSettings, pages: SitePages) => {
    const endpoints = byPlace(settings, pages, (options) =>
      createEndpoints(settings, handlersOf(options, createNotifier(options)), options.log),
    );
    const prefix = readPrefix(settings);
    return async (received: Request, context: Context): Promise<Response> => {
      const { deploy } = context;
      const { value: endpointAt, settled } = endpoints(deploy);
      // A request that only reads has no limits.
      const isReading = received.method === "GET" || received.method === "HEAD";
      const address = isReading ? "unknown" : (await clientKeys()).clientKey(context.ip ?? "");
      const answer = async (request: Request) => {
        const found = await endpointAt(new URL(request.url).pathname)?.answer(request, address);
        return found ? toResponse(found) : new Response(null, { status: 404 });
      };
      const request = withPrefix(received, prefix);
      const first = await answer(request);
      // The signature of a repeated request covers the path without the suffix.
      const isRepeat = isLocal(deploy) && REPEAT_SUFFIX.test(new URL(request.url).pathname);
      const response = first.status === 401 && isRepeat ? await answer(withoutSuffix(request)) : first;
      context.waitUntil?.(settled());
      return response;
    };
  };
}

/** @returns a function that notifies the author after the answer; it loads its code then, so that the function starts fast */
function createNotifier(options: ServiceOptions): () => void {
  // Shared by all requests, so that concurrent mentions are one notification.
  const services = once(async () => (await import("../plugin/host/site-services.js")).siteServices(options));
  const notify = async () => {
    const { hasChannel } = await import("../plugin/host/channels.js");
    if (hasChannel(options.environment)) await (await services()).notifyAuthor();
  };
  return () => options.background(attempt("Notifying you", notify, options.log));
}

/** A proxy may have removed the path prefix, which the signature covers. */
function withPrefix(request: Request, prefix: string): Request {
  const url = new URL(request.url);
  if (url.pathname.startsWith(`${prefix}/`)) return request;
  url.pathname = prefix + url.pathname;
  return new Request(url, request);
}

function withoutSuffix(request: Request): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(REPEAT_SUFFIX, "");
  return new Request(url, { method: request.method, headers: request.headers });
}
