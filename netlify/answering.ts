// netlify/answering.ts: how a function of Netlify's hands a request to a handler.
import type { HostSettings, SitePages } from "../plugin/eleventy/host-settings.js";
import type { ServiceOptions } from "../plugin/host/service-options.js";
import { prefixOf } from "../plugin/host/site-prefix.js";
import { countedAs } from "../plugin/http/client-address.js";
import type { Handler } from "../plugin/http/respond.js";
import { type Deploy, isLocal, madeAt } from "./environment.js";

/** What Netlify tells a function about a request. */
interface Context {
  deploy: Deploy;
  ip?: string;
  /** Keeps the function alive after its answer. */
  waitUntil?(work: Promise<void>): void;
}

/** What `netlify dev` hangs on to a path that was answered with 403 or 404, to ask once more. It passes the last answer on. */
const SECOND_TRY = /(?:\/index)?\.html?$/;

/** @returns what a generated function calls with its site, and exports the outcome of */
export function answering(make: (options: ServiceOptions) => Handler) {
  return (settings: HostSettings, pages: SitePages) => {
    const handlers = madeAt(settings, pages, make);
    const prefix = prefixOf(settings);
    return async (asked: Request, context: Context): Promise<Response> => {
      const { deploy, ip = "" } = context;
      const { made: handler, settled } = handlers(deploy);
      const request = withPrefix(asked, prefix);
      const client = { address: countedAs(ip) };
      const first = await handler(request, client);
      const isOther = first.status === 401 && isLocal(deploy) && SECOND_TRY.test(new URL(request.url).pathname);
      const response = isOther ? await handler(asFirstAsked(request), client) : first;
      context.waitUntil?.(settled());
      return response;
    };
  };
}

/** A proxy in front of the site may have taken the prefix off, with which the path was signed. */
function withPrefix(request: Request, prefix: string): Request {
  const url = new URL(request.url);
  if (url.pathname.startsWith(`${prefix}/`)) return request;
  url.pathname = prefix + url.pathname;
  return new Request(url, request);
}

/** The path that a signature is for. */
function asFirstAsked(request: Request): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(SECOND_TRY, "");
  return new Request(url, { method: request.method, headers: request.headers });
}
