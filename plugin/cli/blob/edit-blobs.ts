// plugin/cli/blob/edit-blobs.ts: `blob set`, `blob share` and `blob rm`.
import {
  blobSite,
  choosePlace,
  deleteBlob,
  formatMarkdown,
  toFacts,
  visibility,
} from "../../author/blobs/blob-site.js";
import { misuse } from "../../author/invocation.js";
import { shortKey } from "../../blobs/blob.js";
import type { MetadataChange } from "../../blobs/client/own-blobs.js";
import type { OwnSiteValues } from "../options.js";
import { printData } from "../output.js";
import type { Terminal } from "../terminal.js";
import { completeKey, completeKeys } from "./blob-keys.js";

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

/** `blob set KEY` */
export async function set(values: OwnSiteValues & MetadataValues, word: string, terminal: Terminal): Promise<number> {
  const change = readChange(values, "blob set");
  if (Object.keys(change).length === 0) {
    const options = "--public, --private, --filename, --type, --property or --no-property";
    throw misuse("blob set", `expected a change: ${options}.`);
  }
  return changeBlob(word, change, { ...values, markdown: false }, terminal);
}

/** `blob share KEY` */
export function share(values: OwnSiteValues & { markdown: boolean }, word: string, terminal: Terminal) {
  return changeBlob(word, { isPublic: true }, values, terminal);
}

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

/** `blob rm KEY...` */
export async function rm(values: OwnSiteValues, words: string[], terminal: Terminal): Promise<number> {
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
}
