// plugin/cli/blob/edit-blobs.ts: `blob set`, `share`, `rm` and `move`, and completion of typed keys.
import { counted } from "../../author/amounts.js";
import {
  blobSite,
  choosePlace,
  deleteBlob,
  formatMarkdown,
  toFacts,
  visibility,
} from "../../author/blobs/blob-site.js";
import { countFormerBlobs, type MovedBlob, moveBlobs } from "../../author/blobs/move-blobs.js";
import { misuse, typed, typedHints } from "../../author/invocation.js";
import { isContentAddress, MIN_KEY_PREFIX, shortKey } from "../../blobs/blob.js";
import type { MetadataChange, OwnBlobs } from "../../blobs/client/own-blobs.js";
import { TwtxtError } from "../../errors.js";
import { completeId, type OwnSiteValues, type RunAtSite } from "../options.js";
import { printData } from "../output.js";
import type { Terminal } from "../terminal.js";

export interface MetadataValues {
  public: boolean;
  private: boolean;
  type: string | undefined;
  filename: string | undefined;
  property: [name: string, value: string][];
  "no-property": string[];
}

/** The change that options ask for. @throws TwtxtError `bad-usage` */
export function readChange(values: MetadataValues, where: string): MetadataChange {
  const { type, filename, property, "no-property": without } = values;
  if (values.public && values.private) throw misuse(where, "use either --public or --private.");
  return {
    ...(type !== undefined && { type }),
    ...(filename !== undefined && { filename }),
    ...((values.public || values.private) && { isPublic: values.public }),
    ...(property.length > 0 && { properties: Object.fromEntries(property) }),
    ...(without.length > 0 && { without }),
  };
}

export const set: RunAtSite<MetadataValues, string> = async (values, word, terminal) => {
  const change = readChange(values, "blob set");
  if (Object.keys(change).length === 0) {
    const options = "--public, --private, --filename, --type, --property or --no-property";
    throw misuse("blob set", `expected a change: ${options}.`);
  }
  return changeBlob(word, change, { ...values, markdown: false }, terminal);
};

export const share: RunAtSite<{ markdown: boolean }, string> = (values, word, terminal) =>
  changeBlob(word, { isPublic: true }, values, terminal);

async function changeBlob(
  word: string,
  change: MetadataChange,
  values: OwnSiteValues & { markdown: boolean },
  terminal: Terminal,
): Promise<number> {
  const { blobs, sharedUrl } = await blobSite(values, terminal);
  const { outcome, blob, note, isProven } = await blobs.change(await completeKey(word, blobs), change);
  const place = values.markdown ? formatMarkdown(blob) : choosePlace(blob, sharedUrl);
  printData({ outcome, ...toFacts(blob, sharedUrl), note }, [place], values, terminal);
  const key = shortKey(blob.key);
  terminal.say(`${key}: ${outcome}, ${visibility(blob)}`);
  if (!isProven) terminal.say(`${key}: It was stored without a proof. To add one, put the file again.`);
  if (note !== null) terminal.say(`${key}: ${note}`);
  return 0;
}

export const rm: RunAtSite<object, string[]> = async (values, words, terminal) => {
  const { blobs } = await blobSite(values, terminal);
  const removals: { key: string; removed: boolean; note: string | null }[] = [];
  let exitCode = 0;
  // Completes all keys before it deletes any blob.
  for (const key of await completeKeys(words, blobs)) {
    const { removed, wasMissing, note } = await deleteBlob(key, blobs);
    removals.push({ key, removed, note });
    terminal.say(removed ? `${key}: removed.` : `${key}: there is no such blob.`);
    if (note !== null) terminal.say(`${key}: ${note}`);
    if (!removed && !wasMissing) exitCode = 1;
  }
  printData(removals, [], values, terminal);
  return exitCode;
};

/** `blob move`: moves the blobs of former keys to the current one. */
export const move: RunAtSite<{ from: string | undefined }> = async (values, _, terminal) => {
  const site = await blobSite(values, terminal);
  const former = await countFormerBlobs(site, terminal, values.from);
  if (former.length === 0) {
    throw new TwtxtError(
      "no-identity",
      `This machine has no former key of ${site.author.address}. If you have its 24 words, type \`${typed(`keys restore ${site.author.address} --file old.key`)}\`, then add --from old.key`,
    );
  }
  for (const { key, fault } of former) if (fault !== null) terminal.say(`${key}: ${fault}`);
  const all: MovedBlob[] = [];
  for await (const blob of moveBlobs(former, site, terminal)) {
    all.push(blob);
    terminal.say(`${shortKey(blob.key)}: ${blob.why === null ? "moved" : `not moved: ${typedHints(blob.why)}`}.`);
  }
  printData(all, [], values, terminal);
  const moved = all.filter(({ isMoved }) => isMoved).length;
  terminal.say(`${counted(moved, "blob")} moved to ${site.author.identity.publicKey}.`);
  return moved === all.length && former.every(({ fault }) => fault === null) ? 0 : 1;
};

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
