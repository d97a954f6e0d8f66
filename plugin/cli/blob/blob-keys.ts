// plugin/cli/blob/blob-keys.ts: completion of typed keys.
import { isContentAddress, MIN_KEY_PREFIX, shortKey } from "../../blobs/blob.js";
import type { OwnBlobs } from "../../blobs/client/own-blobs.js";
import { completeId } from "../options.js";

const KEY_PREFIX = new RegExp(`^[0-9a-f]{${MIN_KEY_PREFIX},64}$`, "i");

/** Whole keys are case-sensitive; a SHA-256 in capitals is completed too. */
function isPrefix(word: string): boolean {
  return KEY_PREFIX.test(word) && !isContentAddress(word);
}

/**
 * Completes keys that are the first characters of a SHA-256. Asks the site only if there are any.
 *
 * @throws TwtxtError `not-found` for the start of several keys
 */
export async function completeKeys(words: readonly string[], { client, known }: OwnBlobs): Promise<string[]> {
  if (!words.some(isPrefix)) return [...new Set(words)];
  const [stored, { states }] = await Promise.all([client.list(), known.list()]);
  // This machine also knows blobs that the site hides.
  const all = [...stored, ...states.filter(({ isDeleted }) => !isDeleted)].map(({ key }) => key);
  const addresses = [...new Set(all)].filter(isContentAddress);
  const complete = (word: string) =>
    isPrefix(word) && !all.includes(word) ? (completeId(word.toLowerCase(), addresses, shortKey) ?? word) : word;
  return [...new Set(words.map(complete))];
}

/** The same for one key. */
export async function completeKey(word: string, blobs: OwnBlobs): Promise<string> {
  const [key = word] = await completeKeys([word], blobs);
  return key;
}
