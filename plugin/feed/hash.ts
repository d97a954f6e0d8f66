// plugin/feed/hash.ts: the hash by which a reply names a twt.
import { blake2b } from "@noble/hashes/blake2.js";
import { base32nopad } from "@scure/base";
import { hashedForm, toInstant } from "./timestamp.js";
import type { Twt } from "./twt.js";

/** Twts from this instant on have a hash of 12 characters, older ones of 7. */
const LONG_HASH_SINCE = "2026-07-01T00:00:00Z";

/**
 * The hash by which a reply names this twt.
 *
 * @param feedUrl - the `url` field of the feed, byte for byte
 * @param twt - timestamp and text as they stand in the file, untrimmed
 * @returns 7 or 12 characters of lowercase base32
 * @throws TwtxtError `bad-timestamp` for what is no timestamp
 * @example twtHash("https://example.com/twtxt.txt", { timestamp: "2026-07-01T00:00:00Z", text: "Hello World!" }) // "myzxbwxktuvs"
 * @see twtxt.dev/exts/twt-hash-v2
 */
export function twtHash(feedUrl: string, twt: Twt): string {
  const timestamp = hashedForm(twt.timestamp);
  const digest = blake2b(new TextEncoder().encode(`${feedUrl}\n${timestamp}\n${twt.text}`), { dkLen: 32 });
  const full = base32nopad.encode(digest).toLowerCase();
  const isLong = (toInstant(timestamp) ?? "") >= LONG_HASH_SINCE;
  return isLong ? full.slice(0, 12) : full.slice(-7);
}
