// plugin/mentions/networks/network.ts: the interface of a network that has copies of posts, and what is read and posted there. PROTOCOL 2.7
import type { Clock } from "../../clock.js";
import type { TwtxtErrorCode } from "../../errors.js";
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";

export const NETWORKS = ["mastodon", "bluesky"] as const;

export type NetworkName = (typeof NETWORKS)[number];

/** A copy of a post. */
export interface Copy {
  network: NetworkName;
  /** Its page. */
  url: string;
  /** The origin of the server whose API has it. */
  server: string;
  /** Its ID there; on Bluesky, its `at://` URI, with the DID or the handle of the account. */
  id: string;
}

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
  hasAll: { replies: boolean; like: boolean; repost: boolean };
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

/** The newest replies of a copy that are read, and the reactions of each type. */
export const MAX_REPLIES = 500;
export const MAX_REACTIONS = 240;

/**
 * A network, as anyone reads it. What an account posts there: posting.ts.
 *
 * @throws {@link NetworkError}, and what the guard throws
 */
export interface Network {
  /** @returns `null` if the copy is gone, or is not public */
  thread(copy: Copy, parts: ThreadParts): Promise<Thread | null>;
}

/** A server's refusal, or an answer that cannot be read. */
export class NetworkError extends TwtxtError {
  constructor(
    code: TwtxtErrorCode,
    message: string,
    /** The status of the answer. */
    readonly status: number,
    /** When the server may be asked again, in milliseconds since 1970; `null` if it does not say. */
    readonly notBefore: number | null,
  ) {
    super(code, message);
  }
}
