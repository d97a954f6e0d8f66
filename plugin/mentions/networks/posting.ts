// plugin/mentions/networks/posting.ts: an account that posts copies of posts, and what it posts. PROTOCOL 2.7
import type { CleanPicture } from "../../pictures/remove-metadata.js";
import type { Sleep } from "../../store/retry.js";
import type { TextPart } from "./copy-text.js";
import type { Copy, NetworkName, NetworkParts } from "./network.js";
import { NetworkError } from "./network-json.js";

export interface CopyToPost {
  /** The same for each attempt to post a post, and no other. */
  key: string;
  parts: readonly TextPart[];
  /** The page of the post. */
  permalink: string;
  lang: string | null;
  /** The content warning; `null` for none. */
  warning: string | null;
  /** Without metadata, within the limits of the account. */
  pictures: readonly (Pick<CleanPicture, "bytes" | "type"> & { alt: string })[];
  /** Called when a picture is left out. */
  onLeftOut(why: string): void;
  /** Of a preview, whose picture is the first one; `null` without one. */
  card: { title: string; description: string } | null;
  /** The URL of the status that it replies to; `null` for none. */
  replyTo: string | null;
}

export interface PostingParts extends NetworkParts {
  sleep: Sleep;
}

/** The author's account on a network. Its methods throw NetworkError, and what the guard throws. */
export interface PostingAccount {
  readonly network: NetworkName;
  /** What the ledger shows as the target: the server, or the page of the account. */
  readonly place: string;
  /** Asks the server for the page of the account and for what the token may do, `null` if it does not say. Posts nothing. */
  check(): Promise<{ account: string; permissions: string | null }>;
  /** How many pictures a copy may have, and the bytes of one. */
  readPictureLimits(): Promise<{ count: number; bytes: number }>;
  /** The copy of the post with this page that was posted before, whether or not the store knows it; `null` for none. */
  find(permalink: string): Promise<Copy | null>;
  post(copy: CopyToPost): Promise<Copy>;
  /** Absent for a network without edits. A copy that the author has deleted stays deleted. */
  edit?(posted: Copy, copy: CopyToPost): Promise<Copy>;
  /** A copy that is gone is not an error. */
  delete(posted: Copy): Promise<void>;
}

/** For `catch`: leaves out a picture that the server refuses. Throws what does not depend on the picture. */
export function leaveOut({ onLeftOut }: Pick<CopyToPost, "onLeftOut">): (error: unknown) => null {
  return (error) => {
    const isRefusal = error instanceof NetworkError && error.code === "source-refused";
    if (!isRefusal || error.status === 401 || error.status === 403) throw error;
    onLeftOut(error.message);
    return null;
  };
}
