// plugin/host/fediverse.ts: answers for handles at the domain of the site.
import { TwtxtError } from "../errors.js";
import { allowing, type Handler } from "../http/respond.js";
import { BRIDGY, parseHandle } from "../options/fediverse.js";
import { BRIDGY_ORIGIN, FEDIVERSE_DOCUMENTS } from "../site/fediverse.js";
import { ROUTES } from "../site/routes.js";
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
  // The names of the author at the domain of the site, and the site itself.
  const users = [nick, parseHandle(fediverse)?.user ?? ""];
  const names = [...users.map((user) => `acct:${user.toLowerCase()}@${new URL(url).host}`), url, `${url}/`];
  const answer = (name: keyof typeof FEDIVERSE_DOCUMENTS) => {
    const { path, type, write } = FEDIVERSE_DOCUMENTS[name];
    const handler: Handler = async (request) => {
      const { search, searchParams } = new URL(request.url);
      const location = BRIDGY_ORIGIN + path + search;
      if (fediverse === BRIDGY) return { status: 302, headers: { ...HEADERS, location }, body: null };
      if (name === "webfinger" && !names.includes(searchParams.get("resource")?.toLowerCase() ?? ""))
        throw new TwtxtError("not-found", "This site has no account of that name.");
      const headers = { ...HEADERS, "content-type": type };
      return { status: 200, headers, body: write(fediverse, url) };
    };
    return allowing(ROUTES[name].methods, handler, HEADERS);
  };
  return { webfinger: answer("webfinger"), hostMeta: answer("hostMeta") };
}
