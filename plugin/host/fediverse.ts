// plugin/host/fediverse.ts: answers for handles at the domain of the site.
import { TwtxtError } from "../errors.js";
import { allowing, type Handler, type HttpRequest } from "../http/respond.js";
import { BRIDGY, parseHandle } from "../options/fediverse.js";
import { BRIDGY_ORIGIN, FEDIVERSE_TYPES, hostMeta, webfingerDocument } from "../site/fediverse.js";
import { PATHS, ROUTES } from "../site/routes.js";
import type { Handlers } from "./endpoints.js";
import type { ServiceOptions } from "./service-options.js";

const HEADERS = {
  "access-control-allow-origin": "*",
  "cache-control": "public, max-age=3600",
  "x-content-type-options": "nosniff",
};

/** The handlers of `/.well-known/webfinger` and `/.well-known/host-meta`. */
export function fediverseHandlers({ settings }: Pick<ServiceOptions, "settings">): Handlers {
  const { fediverse, url, nick } = settings;
  if (fediverse === undefined) return {};
  const answer = (path: typeof PATHS.webfinger | typeof PATHS.hostMeta, read: (request: HttpRequest) => string) => {
    const handler: Handler = async (request) => {
      if (fediverse === BRIDGY) {
        const location = BRIDGY_ORIGIN + path + new URL(request.url).search;
        return new Response(null, { status: 302, headers: { ...HEADERS, location } });
      }
      const content = read(request);
      const headers = { ...HEADERS, "content-type": FEDIVERSE_TYPES[path] ?? "" };
      return new Response(request.method === "HEAD" ? null : content, { headers });
    };
    return allowing(ROUTES.webfinger.methods, handler, HEADERS);
  };
  const own = listResources({ fediverse, url, nick });
  return {
    webfinger: answer(PATHS.webfinger, (request) => {
      const resource = new URL(request.url).searchParams.get("resource")?.toLowerCase() ?? "";
      if (own.includes(resource)) return webfingerDocument(fediverse, url);
      throw new TwtxtError("not-found", "This site has no account of that name.");
    }),
    hostMeta: answer(PATHS.hostMeta, () => hostMeta(url)),
  };
}

/** The names of the author at the domain of the site, and the site itself. */
function listResources({ fediverse, url, nick }: { fediverse: string; url: string; nick: string }): string[] {
  const { host } = new URL(url);
  const users = [nick, parseHandle(fediverse)?.user ?? ""].map((user) => user.toLowerCase());
  return [...users.map((user) => `acct:${user}@${host}`), url, `${url}/`];
}
