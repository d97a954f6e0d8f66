// plugin/site/mention-list.ts: the list of mentions that a site publishes, as `/mentions.json` has it.
import * as v from "valibot";

export const MENTION_TYPES = ["mention", "reply", "like", "repost", "bookmark"] as const;

export type MentionType = (typeof MENTION_TYPES)[number];

/** Who mentions us, as the source says it. */
export interface Author {
  name: string;
  /** Their feed or page. */
  url: string;
  photo: string | null;
}

/** A mention as everybody may see it. PROTOCOL 2.4, "The answer". */
export interface PublicMention {
  /** A reference to a twt, or a page. */
  source: string;
  /** One of our URLs, as the site writes it. */
  target: string;
  /** Our post that it is about beside its target; `null` for none. */
  under: string | null;
  type: MentionType;
  author: Author;
  /** At most 500 characters; lines are separated by LF. */
  text: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` where the source does not say. */
  published: string | null;
  received: string;
}

/** What `GET /mentions.json` answers with: newest first. */
export interface MentionList {
  mentions: PublicMention[];
  /** For the parameter `after`; `null` at the end. */
  next: string | null;
}

const MENTION = v.object({
  source: v.string(),
  target: v.string(),
  under: v.optional(v.nullable(v.string()), null),
  type: v.picklist(MENTION_TYPES),
  author: v.object({ name: v.string(), url: v.string(), photo: v.nullable(v.string()) }),
  text: v.string(),
  published: v.nullable(v.string()),
  received: v.string(),
});

const LIST: v.GenericSchema<unknown, MentionList> = v.object({
  mentions: v.array(MENTION),
  next: v.nullable(v.string()),
});

/** @returns `null` for what is no such list */
export function parseMentionList(json: unknown): MentionList | null {
  const result = v.safeParse(LIST, json);
  return result.success ? result.output : null;
}
