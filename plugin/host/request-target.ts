// plugin/host/request-target.ts: what a request asks for, in whichever form it says so.
import type { IncomingMessage } from "node:http";

/** The path and query of a request. It names its target as a path, or, as to a proxy, as a whole URL. */
export function targetOf({ url = "/" }: Pick<IncomingMessage, "url">): string {
  const target = url.replace(/^https?:\/\/[^/?]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

/** The path of a request, without its query. */
export function pathOf(request: Pick<IncomingMessage, "url">): string {
  return targetOf(request).split("?")[0] ?? "/";
}
