// netlify/answering.ts: hands the requests of a Netlify function to the endpoints of a capability.

import { endpointsOf, type Handlers } from "../plugin/host/endpoints.js";
import type { ServiceOptions } from "../plugin/host/service-options.js";
import { attempt, once } from "../plugin/host/work.js";
import { clientKey } from "../plugin/http/client-address.js";
import { prefixOf } from "../plugin/site/routes.js";
import type { HostSettings, SitePages } from "../plugin/site/site.js";
import { type Deploy, isLocal, madeAt } from "./environment.js";

/** Netlify's context of a request. */
interface Context {
  deploy: Deploy;
  ip?: string;
  /** Keeps the function alive after its answer. */
  waitUntil?(work: Promise<void>): void;
}

/** `netlify dev` adds this to a path that was answered with 403 or 404, asks again, and passes the last answer on. */
const SECOND_TRY = /(?:\/index)?\.html?$/;

/**
 * @param handlersOf - the handlers of one capability; `onStored` notifies the author
 * @returns what a generated function calls with its site, and exports the result of
 */
export function answering(handlersOf: (options: ServiceOptions, onStored: () => void) => Handlers) {
  return (settings: HostSettings, pages: SitePages) => {
    const endpoints = madeAt(settings, pages, (options) =>
      endpointsOf(settings, handlersOf(options, notifierOf(options)), options.log),
    );
    const prefix = prefixOf(settings);
    return async (received: Request, context: Context): Promise<Response> => {
      const { deploy, ip = "" } = context;
      const { made: endpointAt, settled } = endpoints(deploy);
      const address = clientKey(ip);
      const answer = (request: Request) =>
        endpointAt(new URL(request.url).pathname)?.answer(request, address) ?? new Response(null, { status: 404 });
      const request = withPrefix(received, prefix);
      const first = await answer(request);
      const isOther = first.status === 401 && isLocal(deploy) && SECOND_TRY.test(new URL(request.url).pathname);
      const response = isOther ? await answer(asFirstAsked(request)) : first;
      context.waitUntil?.(settled());
      return response;
    };
  };
}

/**
 * Loads the code for it only when it is needed, so that the function starts fast.
 *
 * @returns a function that notifies the author after the answer
 */
function notifierOf(options: ServiceOptions): () => void {
  // Shared by all requests, so that concurrent mentions are one notification.
  const services = once(async () => (await import("../plugin/host/site-services.js")).siteServices(options));
  const notify = async () => {
    const { hasChannel } = await import("../plugin/host/channels.js");
    if (hasChannel(options.secrets.channels)) await (await services()).notifyAuthor();
  };
  return () => options.background(attempt("Notifying you", notify, options.log));
}

/** A proxy may have removed the prefix of the signed path. */
function withPrefix(request: Request, prefix: string): Request {
  const url = new URL(request.url);
  if (url.pathname.startsWith(`${prefix}/`)) return request;
  url.pathname = prefix + url.pathname;
  return new Request(url, request);
}

/** The signed path. */
function asFirstAsked(request: Request): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(SECOND_TRY, "");
  return new Request(url, { method: request.method, headers: request.headers });
}
