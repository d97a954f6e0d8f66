// plugin/mentions/mention.ts: what the parts of this folder hand to each other.

import type { TwtxtErrorCode } from "../errors.js";
import type { Author, MentionType } from "../site/mention-list.js";

/** Who is said to mention whom: what a sender has posted, read and checked, and nothing of it believed. */
export interface Claim {
  /** The source as a URL without fragment. */
  source: string;
  /** The timestamp that names one twt of the source, in the forms that it may have been meant in; none for a page. */
  timestamps: string[];
  target: Target;
}

/** One of our own URLs. */
export interface Target {
  /** As the site itself writes it: the key under which mentions are kept. */
  url: string;
  kind: "feed" | "page";
}

/** What a source says, seen with our own eyes. */
export interface ProvenMention {
  /** The one URL by which the source is known, in its normal spelling: PROTOCOL 2.4, "The proof". */
  identity: string;
  /** Whether the feed's field `url` names this very URL; `false` for a page. */
  isDeclared: boolean;
  /** The timestamp of the twt as the source has it; `null` for a page. */
  timestamp: string | null;
  /** The same as an instant, `YYYY-MM-DDThh:mm:ssZ`; `null` for a page. */
  instant: string | null;
  type: MentionType;
  author: Author;
  /** What is said, at most 500 characters; lines are separated by LF. */
  text: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` where the source does not say. */
  published: string | null;
  /** The hash of the twt that is replied to. */
  subject: string | null;
  /** The page of our post that the source itself names; `null` for none. */
  about: string | null;
}

/** How a verification ended. */
export type Proof =
  | { outcome: "proven"; mention: ProvenMention }
  /**
   * The source does not say so. `isGone` where that is certain enough to remove what was stored before: PROTOCOL 2.4,
   * "Removal". `identity` is null where nothing answered.
   */
  | { outcome: "disproven"; code: TwtxtErrorCode; why: string; isGone: boolean; identity: string | null }
  /** No verdict: worth another try. */
  | { outcome: "unreachable"; why: string; isTimeout: boolean };

/** @returns never throws for what a stranger's server does; that is a Proof */
export type Verify = (claim: Claim) => Promise<Proof>;

export type MentionState = "shown" | "held" | "rejected";

/** A mention as it is stored. */
export interface StoredMention extends ProvenMention {
  /** 32 hex digits: the same for the same twt and target, however often it is sent. */
  id: string;
  /** The URL that the first sender gave as source, without fragment: `identity` is where it led. */
  given: string;
  /** One of our URLs, as the site writes it. */
  target: string;
  /**
   * Our post that it stands under beside its target: the one that the source names, else the one that the first request
   * named.
   */
  under: string | null;
  state: MentionState;
  /** When it came first: `YYYY-MM-DDThh:mm:ss.sssZ`. */
  received: string;
}

/** Which mentions, and how many at once. */
export interface MentionQuery {
  state?: MentionState;
  /** One of our URLs, as the site writes it; those below it in `under` too. */
  target?: string;
  /** Where the last answer ended. */
  after?: string;
  limit: number;
}

/** Reads what is stored, newest first. */
export type ListMentions = (query: MentionQuery) => Promise<{ mentions: StoredMention[]; next: string | null }>;
