// plugin/cli/blob/edit-blobs.ts: `blob set`, `blob share` and `blob rm`, and the metadata that options ask for.
import type { Outcome, Wish } from "../../blobs/client/change.js";
import { laterThan } from "../../blobs/client/newest.js";
import { shortKey } from "../../blobs/client/short-key.js";
import { misuse } from "../arguments.js";
import type { OwnSiteValues } from "../options.js";
import { endingOf, type Terminal } from "../terminal.js";
import { type BlobOwner, blobOwner, factsOf, markdownOf, placeOf, visibility, wholeKeys } from "./blob-owner.js";

export interface MetadataValues {
  public: boolean;
  private: boolean;
  type: string | undefined;
  filename: string | undefined;
  property: [name: string, value: string][];
  "no-property": string[];
}

/** @throws TwtxtError `bad-usage` */
export function changesIn(values: MetadataValues, where: string): Wish {
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
  const changes = changesIn(values, "blob set");
  if (Object.keys(changes).length === 0) {
    throw misuse(
      "blob set",
      "expected a change: --public, --private, --filename, --type, --property or --no-property.",
    );
  }
  return change(word, changes, { ...values, markdown: false }, terminal);
}

/** `blob share KEY` */
export function share(values: OwnSiteValues & { markdown: boolean }, word: string, terminal: Terminal) {
  return change(word, { isPublic: true }, values, terminal);
}

async function change(
  word: string,
  changes: Wish,
  values: OwnSiteValues & { markdown: boolean },
  terminal: Terminal,
): Promise<number> {
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  const [key = ""] = await wholeKeys([word], owner);
  const outcome = await owner.change(key, changes);
  const { blob, note } = outcome;
  const facts = { outcome: outcome.outcome, ...factsOf(blob, owner.sharedUrl), note };
  const place = values.markdown ? markdownOf(blob) : placeOf(blob, owner.sharedUrl);
  terminal.print(values.json ? JSON.stringify(facts, null, 2) : place);
  for (const line of reportOf(outcome)) terminal.say(`${shortKey(blob.key)}: ${line}`);
  return 0;
}

function reportOf({ outcome, blob, note, isProven }: Outcome): string[] {
  const unproven = "It has no proof, since it was stored without one. Put it again to add one.";
  return [`${outcome}, ${visibility(blob)}`, ...(isProven ? [] : [unproven]), ...(note === null ? [] : [note])];
}

const NOTED = "This machine has recorded that it is gone.";

interface Removal {
  key: string;
  /** Whether it was stored. */
  removed: boolean;
  note: string | null;
}

/** `blob rm KEY...` */
export async function rm(values: OwnSiteValues, words: string[], terminal: Terminal): Promise<number> {
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  // Completes all keys before it deletes any blob.
  const keys = await wholeKeys(words, owner);
  const removals: Removal[] = [];
  for (const key of keys) {
    const removal = await remove(key, owner);
    removals.push(removal);
    terminal.say(removal.removed ? `${key}: removed.` : `${key}: there is no such blob.`);
    if (removal.note !== null) terminal.say(`${key}: ${removal.note}`);
  }
  if (values.json) terminal.print(JSON.stringify(removals, null, 2));
  return removals.every(({ removed, note }) => removed || note === NOTED) ? 0 : 1;
}

/** Records a blob that is already gone as removed too, so that it is no longer reported as missing. */
async function remove(key: string, { client, newest, now }: BlobOwner): Promise<Removal> {
  const known = await newest.get(key);
  const done = await client.delete(key);
  if (done || known) {
    const created = laterThan(known ? [known.created] : [], now());
    await newest.remember({ key, created, sha256: known?.sha256 ?? "", isDeleted: true });
  }
  return { key, removed: done !== null, note: done ? done.note : known && !known.isDeleted ? NOTED : null };
}
