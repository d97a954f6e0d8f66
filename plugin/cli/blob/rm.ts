// plugin/cli/blob/rm.ts: `blob rm`: removes blobs.
import { laterThan } from "../../blobs/client/newest.js";
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { keysNamedBy } from "./keys.js";
import { type BlobOwner, blobOwner, endingOf, NAME } from "./owner.js";

const NOTED = "This machine has noted that it is gone.";

interface Removal {
  key: string;
  /** Whether it was there. */
  removed: boolean;
  note: string | null;
}

export async function rm(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob rm", args, OWN_SITE_OPTIONS);
  if (positionals.length === 0) throw misuse(`${NAME} rm: say which blobs, by keys as blob list shows them.`, NAME);
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  // All are known before any is removed.
  const keys = await keysNamedBy(positionals, owner);
  const removals: Removal[] = [];
  for (const key of keys) {
    const removal = await remove(key, owner);
    removals.push(removal);
    terminal.say(removal.removed ? `${key}: removed.` : `${key}: it is not there.`);
    if (removal.note !== null) terminal.say(`${key}: ${removal.note}`);
  }
  if (values.json) terminal.print(JSON.stringify(removals, null, 2));
  return removals.every(({ removed, note }) => removed || note === NOTED) ? 0 : 1;
}

/** What is not there any more is noted as removed too, so that nobody is told again that it is missing. */
async function remove(key: string, { client, newest, now }: BlobOwner): Promise<Removal> {
  const known = await newest.get(key);
  const done = await client.delete(key);
  if (done || known) {
    const created = laterThan(known ? [known.created] : [], now());
    await newest.remember({ key, created, sha256: known?.sha256 ?? "", isDeleted: true });
  }
  return { key, removed: done !== null, note: done ? done.note : known && !known.isDeleted ? NOTED : null };
}
