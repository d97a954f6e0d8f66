// plugin/site/mention-list.ts: the public list of mentions, `/mentions.json`.
import * as v from "valibot";

export const MENTION_TYPES = ["mention", "reply", "like", "repost", "bookmark"] as const;

export type MentionType = (typeof MENTION_TYPES)[number];

/** The author of a mention, from its source. */
export interface Author {
  name: string;
  /** Their feed or page. */
  url: string;
  photo: string | null;
}

/** The public part of a mention. PROTOCOL 2.4, "The answer". */
export interface PublicMention {
  /** A reference to a twt, or a page. */
  source: string;
  /** The mentioned URL of this site. */
  target: string;
  /** A post that the mention is also about, in addition to its target; `null` for none. */
  under: string | null;
  type: MentionType;
  author: Author;
  /** At most 500 characters; lines are separated by LF. */
  text: string;
  /** The text as HTML of `p`, `a`, `code`, `em`, `strong` and `br`; `null` if it was received by an earlier version. */
  html: string | null;
  /** The hash of its twt, and the short form that most clients know; `null` for a page. */
  hash: string | null;
  hashV1: string | null;
  /** The hash or URL that it replies to; `null` for none. */
  replyTo: string | null;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if unknown. */
  published: string | null;
  received: string;
}

/** The response of `GET /mentions.json`: newest first. */
export interface MentionList {
  mentions: PublicMention[];
  /** Cursor for the parameter `after`; `null` on the last page. */
  next: string | null;
}

const MENTION = v.object({
  source: v.string(),
  target: v.string(),
  under: v.optional(v.nullable(v.string()), null),
  type: v.picklist(MENTION_TYPES),
  author: v.object({ name: v.string(), url: v.string(), photo: v.nullable(v.string()) }),
  text: v.string(),
  html: v.optional(v.nullable(v.string()), null),
  hash: v.optional(v.nullable(v.string()), null),
  hashV1: v.optional(v.nullable(v.string()), null),
  replyTo: v.optional(v.nullable(v.string()), null),
  published: v.nullable(v.string()),
  received: v.string(),
});

const LIST: v.GenericSchema<unknown, MentionList> = v.object({
  mentions: v.array(MENTION),
  next: v.nullable(v.string()),
});

/** @returns `null` for anything else */
export function parseMentionList(json: unknown): MentionList | null {
  const result = v.safeParse(LIST, json);
  return result.success ? result.output : null;
}

/**
 * A twt or page can mention several URLs of this site, and a twt can be received from its feed and from its page. Under a
 * page, only the one that was received last is shown: the component reads the newest mentions first, so it knows that one.
 */
export function oncePerSource<Mention extends ComparedMention>(mentions: readonly Mention[]): Mention[] {
  const shown = new Map<string, Mention>();
  for (const mention of mentions) {
    const known = shown.get(sourceKey(mention));
    if (!known || isBefore(mention, known)) shown.set(sourceKey(mention), mention);
  }
  return mentions.filter((mention) => shown.get(sourceKey(mention)) === mention);
}

/** Leaves out repeats of a twt in the list of all mentions. A page, such as a list of likes, can differ for each target. */
export function oncePerTwt<Mention extends ComparedMention>(mentions: readonly Mention[]): Mention[] {
  const twts = new Set(oncePerSource(mentions.filter(({ hash }) => hash !== null)));
  return mentions.filter((mention) => mention.hash === null || twts.has(mention));
}

/** `received` is null for an own reply. */
type ComparedMention = Pick<PublicMention, "source" | "target" | "hash"> & { received: string | null };

const ORIGIN = /^[^/]*\/*[^/]*/;

/** The same for the page and the feed of a twt. Another host may repeat a twt, but does not replace it. */
function sourceKey({ source, hash }: ComparedMention): string {
  return hash === null ? source : `${ORIGIN.exec(source)?.[0]} ${hash}`;
}

function isBefore(one: ComparedMention, other: ComparedMention): boolean {
  const [a, b] = [one.received ?? "", other.received ?? ""];
  if (a !== b) return a > b;
  return one.target === other.target ? one.source < other.source : one.target < other.target;
}
