// plugin/mentions/networks/network.ts: the interface of a network that has copies of posts, and what is read there. PROTOCOL 2.7
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Ask } from "../../http/guard.js";
import { NETWORKS } from "../../options/syndicate.js";

export type NetworkName = (typeof NETWORKS)[number];

/** A copy of a post. */
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

export interface Account {
  /** Its page. */
  url: string;
  name: string;
  photo: string | null;
}

/** A public status that replies to a copy, or to another reply. */
export interface Status {
  /** Its page, which identifies it. */
  url: string;
  author: Account;
  /** As the network has it, not sanitized. */
  html: string;
  /** `YYYY-MM-DDThh:mm:ssZ`; `null` if the server does not say. */
  published: string | null;
  /** The URL of the reply that it replies to; `null` for the copy itself. */
  replyTo: string | null;
}

/** A like or a repost. */
export interface Reaction {
  type: "like" | "repost";
  author: Account;
  /** As in {@link Status}. */
  published: string | null;
}

/** What a network has about a copy. */
export interface Thread {
  /** When the copy was posted, as in {@link Status}. */
  published: string | null;
  /** The public ones. */
  replies: Status[];
  reactions: Reaction[];
  /** Whether all replies were read, so that a missing one is gone; the same of likes and reposts. */
  hasAll: { reply: boolean; like: boolean; repost: boolean };
}

export interface NetworkParts {
  ask: Ask;
  now: Clock;
}

/** How threads are read. */
export interface ThreadParts extends NetworkParts {
  /** Whether replies that are public, but not listed in timelines, are wanted. */
  isUnlistedWanted: boolean;
  /** The author's token for a server; absent for none. */
  token?: string | undefined;
}

/**
 * Reads what anyone may read about a copy. What an account posts: posting.ts.
 *
 * @returns `null` if the copy is gone, or is not public
 * @throws NetworkError, and what the guard throws
 */
export type ReadThread = (copy: Copy, parts: ThreadParts) => Promise<Thread | null>;
