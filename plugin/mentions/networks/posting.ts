// plugin/mentions/networks/posting.ts: an account that posts copies of posts, and what it posts. PROTOCOL 2.7
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Ask } from "../../http/guard.js";
import type { Sleep } from "../../store/retry.js";
import type { TextPart } from "./copy-text.js";
import { type Copy, NETWORKS, NetworkError, type NetworkName } from "./network.js";

/** A copy, as it is stored. */
export const StoredCopy = v.object({
  network: v.picklist(NETWORKS),
  url: v.string(),
  server: v.string(),
  id: v.string(),
});

export interface CopyToPost {
  /** The same for each attempt to post a post, and no other. */
  key: string;
  parts: readonly TextPart[];
  /** The page of the post. */
  permalink: string;
  lang: string | null;
  /** The content warning; `null` for none. */
  warning: string | null;
  /** Without metadata. */
  pictures: readonly { bytes: Uint8Array; type: string; alt: string }[];
  /** Of a preview; `null` without one. */
  card: { title: string; description: string } | null;
  /** The URL of the status that it replies to; `null` for none. */
  replyTo: string | null;
}

export interface PostingParts {
  ask: Ask;
  now: Clock;
  sleep: Sleep;
}

/** The author's account on a network. Its methods throw {@link NetworkError}, and what the guard throws. */
export interface PostingAccount {
  readonly network: NetworkName;
  /** What the ledger shows as the target: the server, or the page of the account. */
  readonly place: string;
  /** Whether a copy can be edited. */
  readonly canEdit: boolean;
  /** Asks the server for the page of the account and for what the token may do, `null` if it does not say. Posts nothing. */
  check(): Promise<{ account: string; permissions: string | null }>;
  /** The copy that was posted before, whether or not the store knows it; `null` for none. */
  find(copy: Pick<CopyToPost, "permalink">): Promise<Copy | null>;
  post(copy: CopyToPost): Promise<Copy>;
  /** A copy that the author has deleted stays deleted. */
  edit(posted: Copy, copy: CopyToPost): Promise<Copy>;
  /** A copy that is gone is not an error. */
  delete(posted: Copy): Promise<void>;
}

/** Handles a refusal of this status, or of any, as this value. Throws all other errors. */
export function ifRefused<T>(value: T, status?: number): (error: unknown) => T {
  return (error) => {
    const isRefusal = error instanceof NetworkError && error.code === "source-refused";
    if (isRefusal && (status === undefined || error.status === status)) return value;
    throw error;
  };
}
