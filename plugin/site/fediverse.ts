// plugin/site/fediverse.ts: the documents by which a handle at the domain of the site leads to an account in the fediverse.
import { parseHandle } from "../options/fediverse.js";
import { escapeHtml } from "./html.js";
import { PATHS } from "./routes.js";

export const BRIDGY_ORIGIN = "https://fed.brid.gy";

/** How pages name the account: its profile, and its handle for previews. @param site - the origin of the site */
export function fediverseAuthor(fediverse: string, site: string): { profile: string; creator: string } {
  const handle = parseHandle(fediverse);
  const { host } = new URL(site);
  return handle
    ? { profile: `https://${handle.server}/@${handle.user}`, creator: fediverse }
    : { profile: `https://web.brid.gy/r/${site}/`, creator: `@${host}@${host}` };
}

/** The documents, each written for a handle such as `@alice@mastodon.example` and the origin of the site. */
export const FEDIVERSE_DOCUMENTS = {
  webfinger: { path: PATHS.webfinger, type: "application/jrd+json", write: writeWebfinger },
  hostMeta: { path: PATHS.hostMeta, type: "application/xrd+xml", write: writeHostMeta },
};

/**
 * The document of the account (RFC 7033). Its subject is at the server of the account, which clients then ask: only that
 * server knows its inbox.
 */
function writeWebfinger(handle: string, site: string): string {
  const { user, server } = parseHandle(handle) ?? { user: "", server: "" };
  const origin = `https://${server}`;
  const { profile } = fediverseAuthor(handle, site);
  return `${JSON.stringify({
    subject: `acct:${user}@${server}`,
    aliases: [profile, `${site}/`],
    links: [
      { rel: "http://webfinger.net/rel/profile-page", type: "text/html", href: profile },
      { rel: "self", type: "application/activity+json", href: `${origin}/users/${user}` },
      { rel: "http://ostatus.org/schema/1.0/subscribe", template: `${origin}/authorize_interaction?uri={uri}` },
    ],
  })}\n`;
}

/** Tells older clients where the documents of accounts are (RFC 6415). */
function writeHostMeta(_: string, site: string): string {
  const template = escapeHtml(`${site}${PATHS.webfinger}?resource={uri}`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Link rel="lrdd" template="${template}"/></XRD>
`;
}
