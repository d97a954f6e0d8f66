// plugin/mentions/receive/managed-mention.ts: JSON of the endpoints at which authors manage their mentions. PROTOCOL 2.5
import * as v from "valibot";
import { AUTHOR, MENTION_TYPES } from "../../site/mention-list.js";
import { StoredUrl } from "../mention.js";

export const STATES = ["shown", "held", "pending", "rejected"] as const;

const orNull = v.nullable(v.string());

/** An item of the list: a stored or a pending mention. */
export const ManagedMention = v.object({
  id: v.string(),
  /** Version of its contents, sent back as `If-Match` with a decision; `null` while pending. */
  version: orNull,
  state: v.picklist(STATES),
  /** A reference to a twt, or a page. */
  source: StoredUrl,
  target: v.string(),
  url: v.exactOptional(v.string()),
  /** The copy of the target on another network in whose thread it is; absent for a mention that was sent. */
  copy: v.exactOptional(v.string()),
  under: orNull,
  /** The title of `under`, or else of `target`; absent if unknown, and for the feed. */
  title: v.exactOptional(v.string()),
  /** `null` while pending, like `author` and `text`. */
  type: v.nullable(v.picklist(MENTION_TYPES)),
  author: v.nullable(AUTHOR),
  text: orNull,
  /** Of a page or a comment; the HTML of another twt follows from its text. */
  html: v.optional(orNull, null),
  published: orNull,
  received: v.string(),
});
export type ManagedMention = v.InferOutput<typeof ManagedMention>;

export const ManagedPage = v.object({
  mentions: v.array(ManagedMention),
  /** `null` on the last page. */
  next: orNull,
  count: v.number(),
  /** In the list of rejected mentions: the sources that the author has blocked. */
  blocked: v.optional(v.array(v.string()), []),
});

/** The answer to a deletion: how many there were. */
export const Forgotten = v.object({ forgotten: v.number() });

/** The answer to the rejection of a source: how many mentions were shown or held. */
export const Rejected = v.object({ rejected: v.number() });

export const Imported = v.object({
  /** Mentions that are stored now and were not before. */
  imported: v.number(),
  /** The same as a stored one. */
  known: v.number(),
  /** Their target is not a page of this site. */
  ignored: v.number(),
});

export const VerifiedPending = v.object({
  kept: v.number(),
  /** The source does not confirm it, or gave no verdict in the last attempt. */
  dropped: v.number(),
  waiting: v.number(),
  /** The threads on other networks that were read; absent for none. */
  threads: v.exactOptional(v.number()),
});
export type VerifiedPending = v.InferOutput<typeof VerifiedPending>;
