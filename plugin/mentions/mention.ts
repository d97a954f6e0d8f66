// plugin/mentions/mention.ts: types of mentions, from claim to stored record.
import type { TwtxtErrorCode } from "../errors.js";
import type { Author, MentionType } from "../site/mention-list.js";

/** A sender's unverified claim that a source mentions a target. */
export interface Claim {
  /** The source as a URL without fragment. */
  source: string;
  /** The possible readings of the twt's timestamp; empty for a page. */
  timestamps: string[];
  target: Target;
}

/** A URL of this site. */
export interface Target {
  /** As the site writes it. */
  url: string;
  kind: "feed" | "page";
}

/** A mention as found at its source. */
export interface ProvenMention {
  /** The normalized URL that identifies the source. PROTOCOL 2.4, "The proof". */
  identity: string;
  /** Whether the feed's `url` field names this URL; `false` for a page. */
  isDeclared: boolean;
  /** The twt's timestamp as written in the source; `null` for a page. */
  timestamp: string | null;
  /** The same as an instant, `YYYY-MM-DDThh:mm:ssZ`; `null` for a page. */
  instant: string | null;
  type: MentionType;
  author: Author;
  /** At most 500 characters; lines are separated by LF. */
  text: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if the source does not say. */
  published: string | null;
  /** The hash of the twt that this one replies to. */
  subject: string | null;
  /** The page of the site's post that the source names; `null` for none. */
  about: string | null;
}

/** The result of a verification. */
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

export type MentionState = "shown" | "held" | "rejected";

/** A mention as it is stored. */
export interface StoredMention extends ProvenMention {
  /** 32 hex digits, the same for each repeat of a mention. */
  id: string;
  /** The source URL from the first request, without fragment, before redirects. */
  given: string;
  /** A URL of this site, as the site writes it. */
  target: string;
  /** The post that shows it besides its target: the one that the source names, else that of the first request. */
  under: string | null;
  state: MentionState;
  /** When it was first received, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  received: string;
}

export interface MentionQuery {
  state?: MentionState;
  /** A URL of this site, as the site writes it, compared with `target` and `under`. */
  target?: string;
  /** The cursor from the previous page. */
  after?: string;
  limit: number;
}

/** Lists stored mentions, newest first. */
export type ListMentions = (query: MentionQuery) => Promise<{ mentions: StoredMention[]; next: string | null }>;
