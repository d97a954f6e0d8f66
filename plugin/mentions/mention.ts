// plugin/mentions/mention.ts: types of mentions, from claim to stored record.
import * as v from "valibot";
import type { TwtxtErrorCode } from "../errors.js";
import { AUTHOR, MENTION_TYPES } from "../site/mention-list.js";
import { canParseUrl } from "../url.js";

/** Schemas of stored values. */
export const StoredUrl = v.pipe(
  v.string(),
  v.check((text) => canParseUrl(text), "expected a URL"),
);
export const StoredTime = v.pipe(v.string(), v.isoTimestamp());

/** A URL of this site, as the site writes it. */
const Target = v.object({ url: v.string(), kind: v.picklist(["feed", "page"]) });
export type Target = v.InferOutput<typeof Target>;

/** A sender's unverified claim that a source mentions a target. */
export const PostedClaim = v.object({
  source: StoredUrl,
  /** The possible readings of the twt's timestamp; empty for a page. */
  timestamps: v.array(v.string()),
  target: Target,
  /** The post that the mention belongs to besides its target; `null` for none. */
  under: v.nullable(v.string()),
});
export type PostedClaim = v.InferOutput<typeof PostedClaim>;

export type Claim = Omit<PostedClaim, "under">;

const orNull = v.nullable(v.string());

/** A mention as found at its source. */
export const ProvenMention = v.object({
  /** The normalized URL that identifies the source. PROTOCOL 2.4, "The proof". */
  identity: StoredUrl,
  /** The URL that is shown instead of the source: the page of a twt, or of an import; absent for the source itself. */
  url: v.exactOptional(StoredUrl),
  /** Whether the feed's `url` field, or the page's canonical link, names this URL. */
  isDeclared: v.boolean(),
  /** The twt's timestamp as written in the source; `null` for a page. */
  timestamp: orNull,
  /** The same as an instant, `YYYY-MM-DDThh:mm:ssZ`; `null` for a page. */
  instant: orNull,
  type: v.picklist(MENTION_TYPES),
  author: AUTHOR,
  /** At most 5,000 characters; lines are separated by LF. */
  text: v.string(),
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if the source does not say. */
  published: orNull,
  /** The text as safe HTML; `null` if an earlier version stored it. */
  html: v.optional(orNull, null),
  /** The hash of the twt, and the short form that most clients know; `null` for a page. */
  hash: orNull,
  hashV1: orNull,
  /** The hash of the twt, or the URL of the page, that this one replies to. */
  subject: orNull,
  /** The page of the site's post that the source names; `null` for none. */
  about: orNull,
});
export type ProvenMention = v.InferOutput<typeof ProvenMention>;

export type Proof =
  | { outcome: "proven"; mention: ProvenMention }
  /**
   * The source does not confirm the mention. `isGone`: certain enough to remove a stored one, PROTOCOL 2.4, "Removal".
   * `identity` is null if nothing answered.
   */
  | { outcome: "disproven"; code: TwtxtErrorCode; why: string; isGone: boolean; identity: string | null }
  /** No verdict; try again later. */
  | { outcome: "unreachable"; why: string; isTimeout: boolean };

/** Verifies a claim. Failures of the source's server are results, not errors. */
export type Verify = (claim: Claim) => Promise<Proof>;

export const PlacedMention = v.object({
  ...ProvenMention.entries,
  /** The source URL from the first request, without fragment, before redirects. */
  given: StoredUrl,
  /** A URL of this site, as the site writes it. */
  target: v.string(),
  /** The post that shows it besides its target: the one that the source names, else that of the first request. */
  under: orNull,
  /** The copy of the target on another network in whose thread it is; absent for a mention that was sent. PROTOCOL 2.7 */
  copy: v.exactOptional(StoredUrl),
});

export const StoredMention = v.object({
  ...PlacedMention.entries,
  /** Hashes and URLs of its earlier versions, oldest first: answers to them still belong to it. */
  former: v.exactOptional(v.array(v.string())),
  /** 32 hex digits, the same for each repeat of a mention. */
  id: v.string(),
  /** `removed`: its source retracted it. Only its place in the conversation is kept, without text and author. */
  state: v.picklist(["shown", "held", "rejected", "removed"]),
  /** When it was first received, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  received: StoredTime,
  /** When what is shown of it last changed; absent if it never did. */
  changed: v.exactOptional(StoredTime),
});
export type StoredMention = v.InferOutput<typeof StoredMention>;

/**
 * The time of publication that is shown. A source can claim any time: one after its mention was received is not shown. It
 * does not depend on the clock, so an approved mention never changes by itself.
 *
 * @returns `null` for none; `received` is shown then
 */
export function publishedTime({ published, received }: Pick<StoredMention, "published" | "received">): string | null {
  return published !== null && Date.parse(published) > Date.parse(received) ? null : published;
}

export type MentionState = Exclude<StoredMention["state"], "removed">;

export interface MentionQuery {
  state?: MentionState;
  /**
   * A URL of this site, as the site writes it, compared with `target` and `under`. All replies in its conversation are
   * listed. A reply in another conversation is listed with the type `mention`.
   */
  target?: string | undefined;
  after?: string | undefined;
  /** Lists only those that were received at this time or later, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  since?: string;
  limit: number;
  /** Adds the replies in other states that have shown answers. */
  withPlaces?: boolean;
}

/** Lists stored mentions, newest first. */
export type ListMentions = (query: MentionQuery) => Promise<{ mentions: StoredMention[]; next: string | null }>;

/** What the twt of a comment has before the words of its reader. */
const COMMENT_START = /^\(#\w+\) (?:@<[^<>]*> )?/;

/** The text of a mention; of a comment, what its reader has typed. */
export function readWords({ text, author }: { text: string; author: { guest?: true } | null }): string {
  return author?.guest ? text.replace(COMMENT_START, "") : text;
}
