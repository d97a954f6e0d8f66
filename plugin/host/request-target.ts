// plugin/host/request-target.ts: path and query of a request.
import type { IncomingMessage } from "node:http";

/** The path and query of a request, whose target is a path or, as for proxies, a URL. */
export function targetOf({ url = "/" }: Pick<IncomingMessage, "url">): string {
  const target = url.replace(/^https?:\/\/[^/?]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

/** The path of a request, without its query. */
export function pathOf(request: Pick<IncomingMessage, "url">): string {
  return targetOf(request).split("?")[0] ?? "/";
}
