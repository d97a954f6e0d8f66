// plugin/mentions/networks/network.ts: the interface of a network: what is read about copies of posts, and what is posted. PROTOCOL 2.7
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Ask } from "../../http/guard.js";
import { NETWORKS } from "../../options/syndicate.js";
import type { CleanPicture } from "../../pictures/remove-metadata.js";
import type { Author } from "../../site/mention-list.js";
import type { CopyFacts } from "../../site/site.js";
import type { Sleep } from "../../store/retry.js";
import type { TextPart } from "./copy-text.js";

export type NetworkName = (typeof NETWORKS)[number];

export const Copy = v.object({
  network: v.picklist(NETWORKS),
  /** Its page. */
  url: v.string(),
  /** The origin of the server whose API has it. */
  server: v.string(),
  /** Its ID there; on Bluesky, its `at://` URI, with the DID or the handle of the account. */
  id: v.string(),
});
export type Copy = v.InferOutput<typeof Copy>;

/** A public reply to a copy or to another reply, or a like or repost of a copy. */
export interface Answer {
  type: "reply" | "like" | "repost";
  /** Identifies it: its page, or the page of its author with the type. */
  url: string;
  author: Author;
  /** As the network has it, not sanitized; empty for a like or repost. */
  html: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if the server does not say. */
  published: string | null;
  /** The URL of the reply that it replies to; `null` for the copy itself. */
  replyTo: string | null;
}

/** What a network has about a copy. */
export interface Thread {
  /** When the copy was posted, as in {@link Answer}. */
  published: string | null;
  replies: Answer[];
  /** Likes and reposts. */
  reactions: Answer[];
  /** Whether all answers of a type were read, so that a missing one is gone. */
  hasAll: Record<Answer["type"], boolean>;
}

export interface NetworkParts {
  ask: Ask;
  now: Clock;
}

export interface ThreadParts extends NetworkParts {
  /** Whether replies that are public, but not listed in timelines, are wanted. */
  isUnlistedWanted: boolean;
  /** The author's token for the server; absent for none. */
  token?: string | undefined;
}

/**
 * Reads what anyone may read about a copy.
 *
 * @returns `null` if the copy is gone, or is not public
 * @throws NetworkError, and what the guard throws
 */
export type ReadThread = (copy: Copy, parts: ThreadParts) => Promise<Thread | null>;

/** A picture without metadata. */
export interface Picture extends Pick<CleanPicture, "bytes" | "type"> {
  alt: string;
  /** In pixels. */
  width: number;
  height: number;
}

export interface CopyToPost extends Pick<CopyFacts, "lang" | "warning" | "title" | "description" | "replyTo"> {
  /** The same for each attempt to post a post, and no other. */
  key: string;
  parts: readonly TextPart[];
  /** The page of the post. */
  permalink: string;
  /**
   * Uploads the pictures of the post, within the limits of the network. Leaves out one that cannot be read, or that `upload`
   * refuses.
   */
  attach<T>(limits: { count: number; bytes: number }, upload: (picture: Picture) => Promise<T>): Promise<T[]>;
}

export type PostingParts = NetworkParts & { sleep: Sleep };

/** The author's account on a network. Its methods throw NetworkError, and what the guard throws. */
export interface PostingAccount {
  readonly network: NetworkName;
  /** What the ledger shows as the target: the server, or the page of the account. */
  readonly place: string;
  /** Asks the server for the page of the account and for what the token may do, `null` if it does not say. Posts nothing. */
  check(): Promise<{ account: string; permissions: string | null }>;
  /** The copy of the post with this page that was posted before, whether or not the store knows it; `null` for none. */
  find(permalink: string): Promise<Copy | null>;
  post(copy: CopyToPost): Promise<Copy>;
  /** Absent for a network without edits. A copy that the author has deleted stays deleted. */
  edit?(posted: Copy, copy: CopyToPost): Promise<void>;
  /** A copy that is gone is not an error. */
  delete(posted: Copy): Promise<void>;
}
