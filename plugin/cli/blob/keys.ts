// plugin/cli/blob/keys.ts: keys of blobs as a person types them: a content address by its beginning.
import { isContentAddress } from "../../blobs/blob.js";
import { LEAST, shortKey } from "../../blobs/client/short-key.js";
import { TwtxtError } from "../../errors.js";
import { isBlobKey } from "../../site/blob-url.js";
import { misuse } from "../command.js";
import { type BlobOwner, NAME } from "./owner.js";

const BEGINNING = new RegExp(`^[0-9a-f]{${LEAST},64}$`, "i");

/**
 * What is meant by keys or the beginnings of content addresses, each once. The site is asked only where there is such a beginning.
 *
 * @throws TwtxtError `bad-usage` for what is no key; `not-found` for a beginning of several
 */
export async function keysNamedBy(
  words: readonly string[],
  owner: Pick<BlobOwner, "client" | "newest">,
): Promise<string[]> {
  const strange = words.find((word) => !isBlobKey(word));
  if (strange !== undefined) {
    throw misuse(`${NAME}: ${JSON.stringify(strange)} is no key: those are 1 to 128 of A-Z a-z 0-9 . _ -.`, NAME);
  }
  const all = words.some(isBeginning) ? await allKeys(owner) : [];
  return [...new Set(words.map((word) => keyNamedBy(word, all)))];
}

/** What the site hides is known here all the same. */
async function allKeys({ client, newest }: Pick<BlobOwner, "client" | "newest">): Promise<string[]> {
  const [listed, known] = await Promise.all([client.list(), newest.list()]);
  const there = known.states.filter(({ isDeleted }) => !isDeleted);
  return [...new Set([...listed, ...there].map(({ key }) => key))];
}

function keyNamedBy(word: string, all: readonly string[]): string {
  if (!isBeginning(word) || all.includes(word)) return word;
  const beginning = word.toLowerCase();
  const [one, ...others] = all.filter((key) => isContentAddress(key) && key.startsWith(beginning));
  if (others.length === 0) return one ?? word;
  const more = word.length + LEAST;
  const keys = [one ?? "", ...others].map((key) => (more > shortKey(key).length ? key.slice(0, more) : shortKey(key)));
  throw new TwtxtError(
    "not-found",
    `${word} begins several keys: ${keys.join(", ")}. Type more of the one that you mean.`,
  );
}

/** A SHA-256 in capitals is one too: keys are not. */
function isBeginning(word: string): boolean {
  return BEGINNING.test(word) && !isContentAddress(word);
}
