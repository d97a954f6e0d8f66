// plugin/site/site-state.ts: the state of a site, as the site tells its author. GET /api/v1/site
import * as v from "valibot";

const AMOUNT = v.object({
  count: v.number(),
  bytes: v.number(),
});

export const SiteState = v.object({
  version: v.string(),
  node: v.string(),
  /** The number of values in its store. */
  values: v.number(),
  /** The stored messages of all inboxes, and the stored contents of the blobs of all owners. */
  messages: AMOUNT,
  blobs: AMOUNT,
  /** The mentions that the site has sent, by outcome. */
  sent: v.record(v.string(), v.number()),
  /** Why no copies of posts can be posted on networks, by network; absent for none. */
  refused: v.exactOptional(v.record(v.string(), v.string())),
  /** Why the threads of copies cannot be read, by the URL of the copy, at most 20; absent for none. */
  unread: v.exactOptional(v.record(v.string(), v.string())),
});
export type SiteState = v.InferOutput<typeof SiteState>;
