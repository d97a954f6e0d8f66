// plugin/feed/hash.ts: twt hashes, to which replies refer.
import { blake2b } from "@noble/hashes/blake2.js";
import { base32nopad } from "@scure/base";
import { hashedForm, toInstant } from "./timestamp.js";
import type { Twt } from "./twt.js";

/** Twts from this instant on have a hash of 12 characters, older ones of 7. */
const LONG_HASH_SINCE = "2026-07-01T00:00:00Z";

/**
 * The hash to which a reply refers.
 *
 * @param feedUrl - the `url` field of the feed, byte for byte
 * @param twt - timestamp and text exactly as in the file
 * @returns 7 or 12 characters of lowercase base32
 * @throws TwtxtError `bad-timestamp`
 * @example twtHash("https://example.com/twtxt.txt", { timestamp: "2026-07-01T00:00:00Z", text: "Hello World!" }) // "myzxbwxktuvs"
 * @see twtxt.dev/exts/twt-hash-v2
 */
export function twtHash(feedUrl: string, twt: Twt): string {
  return hashAmong(twtHashes(feedUrl, twt), twt.timestamp);
}

/** Selects the hash to which a reply refers, by the timestamp of the twt. */
export function hashAmong({ v1, v2 }: TwtHashes, timestamp: string): string {
  const isLong = (toInstant(timestamp) ?? "") >= LONG_HASH_SINCE;
  return isLong ? v2 : v1;
}

/** Both forms of a hash: of 7 characters, and of 12. */
export interface TwtHashes {
  v1: string;
  v2: string;
}

/**
 * Both forms of a twt's hash. Current clients (timeline, lextwt) only know the first one, whatever the date.
 *
 * @returns 7 and 12 characters of lowercase base32
 * @throws TwtxtError `bad-timestamp`
 * @see PROTOCOL 1.2
 */
export function twtHashes(feedUrl: string, twt: Twt): TwtHashes {
  const timestamp = hashedForm(twt.timestamp);
  const digest = blake2b(new TextEncoder().encode(`${feedUrl}\n${timestamp}\n${twt.text}`), { dkLen: 32 });
  const full = base32nopad.encode(digest).toLowerCase();
  return { v1: full.slice(-7), v2: full.slice(0, 12) };
}
