// plugin/mentions/networks/mastodon.ts: the API of Mastodon, which GoToSocial, Pleroma, Akkoma and others have, too.
import * as v from "valibot";
import { canParseUrl, decodePercent } from "../../url.js";
import type { Copy } from "./network.js";

export const MastodonAccount = v.object({
  id: v.string(),
  /** `bob`, or `bob@other.example` on another server. */
  acct: v.string(),
  url: v.string(),
  display_name: v.optional(v.string(), ""),
  avatar: v.nullish(v.string()),
  /** The profile's text as HTML. */
  note: v.nullish(v.string()),
  noindex: v.nullish(v.boolean()),
  suspended: v.nullish(v.boolean()),
});
export type MastodonAccount = v.InferOutput<typeof MastodonAccount>;

export const MastodonStatus = v.object({
  id: v.string(),
  uri: v.string(),
  url: v.nullish(v.string()),
  created_at: v.string(),
  account: MastodonAccount,
  /** HTML. */
  content: v.string(),
  spoiler_text: v.optional(v.string(), ""),
  visibility: v.string(),
  in_reply_to_id: v.nullish(v.string()),
  favourites_count: v.optional(v.number(), 0),
  reblogs_count: v.optional(v.number(), 0),
});
export type MastodonStatus = v.InferOutput<typeof MastodonStatus>;

/** The path of a status in the API. */
export function toStatusPath({ id }: { id: string }): string {
  return `/api/v1/statuses/${encodeURIComponent(id)}`;
}

/** The paths of statuses: Mastodon; Mastodon's web client; GoToSocial; Akkoma; Pleroma; Pixelfed. */
const STATUS_PATHS =
  /^\/(?:(?:web\/)?@[^/]+|users\/[^/]+\/statuses|(?:web|deck)\/statuses|@[^/]+\/(?:statuses|posts)|notice|p\/[^/]+)\/([A-Za-z0-9]+)\/?$/;

/** @returns `null` for anything but the page of a status */
export function parseStatusUrl(url: string): Copy | null {
  if (!canParseUrl(url)) return null;
  const { origin, protocol, pathname } = new URL(url);
  const [, id] = STATUS_PATHS.exec(decodePercent(pathname) ?? "") ?? [];
  return id !== undefined && /^https?:$/.test(protocol) ? { network: "mastodon", url, server: origin, id } : null;
}
