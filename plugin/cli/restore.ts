// plugin/cli/restore.ts: `eleventy-twtxt restore` brings back what `backup` has written.
import { createReadStream } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { type ArchiveContents, type ArchiveSource, checkArchive, valuesOf } from "../store/archive.js";
import type { StreamingStore } from "../store/store.js";
import { hashOf, SMALL_BYTES, writeValue } from "../store/value.js";
import { countText } from "./backup.js";
import { endingOf } from "./blob/owner.js";
import { progressOf } from "./blob/progress.js";
import { sizeText } from "./blob/shown.js";
import { misuse, readArguments } from "./command.js";
import { badFile } from "./files.js";
import { siteAt } from "./site.js";
import { checkWithinReach, type SiteStore, siteStore, useStoreAlone } from "./site-store.js";
import type { Terminal } from "./terminal.js";

export const name = "restore";
export const summary = "brings back what backup has written";
export const help = `Usage: eleventy-twtxt restore FILE [options]

Brings back the mentions, messages, blobs and what was sent from a file of: eleventy-twtxt backup FILE
All of the file is checked before anything is written. End serve first: it does not start again meanwhile.

  --force           replaces the data that the site has: all of it, by that of the backup
  --store DIR       into the data of serve --store DIR; with the variables of a bucket, into the bucket
  --settings FILE   the settings of the site (default .eleventy-twtxt/settings.json)

Mentions that were sent after the backup may be sent once more.

Example:
  $ eleventy-twtxt restore alice.tar.gz
  Backup of https://alice.example/ from 2026-11-20T09:00:00.000Z: 3412 values, 1.2 GiB.
  Restored into /home/alice/.local/share/eleventy-twtxt/sites/alice.example/store.`;

const OPTIONS = { force: { type: "boolean" }, store: { type: "string" } } as const;

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const [word, ...others] = positionals;
  if (word === undefined || others.length > 0) throw misuse(`${name}: name one file, such as alice.tar.gz.`, name);
  const source = await sourceAt(word, terminal);
  const site = await siteAt(terminal, values.settings);
  const wish = { command: name, store: values.store, isReadOnly: false };
  checkWithinReach(site, wish, terminal);
  const data = await siteStore(site, wish, terminal);
  const leaveStore = await useStoreAlone(data);
  try {
    if (!values.force) await checkEmpty(data);
    const signal = endingOf(terminal);
    const contents = await check(source, signal, terminal);
    await checkRoom(data, contents);
    await restore(data.store, { source, contents, signal }, terminal);
    terminal.say(`Restored into ${data.place}.`);
    return 0;
  } finally {
    await leaveStore();
  }
}

interface SizedSource extends ArchiveSource {
  /** In bytes. */
  size: number;
}

/** @throws TwtxtError `bad-file` */
async function sourceAt(word: string, { folder }: Terminal): Promise<SizedSource> {
  const file = resolve(folder, word);
  const { size } = await stat(file).catch((error) => {
    throw badFile(error);
  });
  return { name: word, size, chunks: () => createReadStream(file) };
}

async function checkEmpty({ store, place }: SiteStore): Promise<void> {
  const { length } = await store.keys("");
  if (length === 0) return;
  throw new TwtxtError(
    "bad-usage",
    `There are data in ${place} already, ${countText(length)}. Nothing was changed. To replace all of them by the backup, give --force.`,
  );
}

async function check(source: SizedSource, signal: AbortSignal, terminal: Terminal): Promise<ArchiveContents> {
  const progress = progressOf(terminal, source.size);
  try {
    const contents = await checkArchive(source, (bytes) => {
      signal.throwIfAborted();
      progress.add(bytes);
    });
    const { about, values } = contents;
    progress.above(() =>
      terminal.say(
        `Backup of ${about.site} from ${about.created}: ${countText(values.size)}, ${sizeText(bytesOf(contents))}.`,
      ),
    );
    return contents;
  } finally {
    progress.end();
  }
}

/** @throws TwtxtError `store-failed` before anything was written */
async function checkRoom({ folder }: SiteStore, contents: ArchiveContents): Promise<void> {
  if (folder === null) return;
  const { bavail, bsize } = await statfs(folder);
  if (bytesOf(contents) <= bavail * bsize) return;
  const [wanted, free] = [bytesOf(contents), bavail * bsize].map(sizeText);
  throw new TwtxtError("store-failed", `The backup needs ${wanted}, and ${folder} has room for ${free}.`);
}

/** Values first, then those go that the backup does not have: where it is cut off, the same once more does the rest. */
async function restore(
  store: StreamingStore,
  { source, contents, signal }: { source: SizedSource; contents: ArchiveContents; signal: AbortSignal },
  terminal: Terminal,
): Promise<void> {
  const progress = progressOf(terminal, source.size);
  try {
    for await (const { key, value, chunks } of valuesOf(source, contents, progress.add)) {
      if (signal.aborted) throw brokenOff();
      const isThere = value.size > SMALL_BYTES && (await hashOf(store, key)) === value.sha256;
      if (!isThere) await writeValue(store, key, { size: value.size, chunks });
    }
    for (const key of await store.keys("")) if (!contents.values.has(key)) await store.delete(key);
  } finally {
    progress.end();
  }
}

function brokenOff(): TwtxtError {
  return new TwtxtError("store-failed", "Broken off: only a part is restored. To go on, type the same with --force.");
}

function bytesOf({ values }: ArchiveContents): number {
  return [...values.values()].reduce((sum, { size }) => sum + size, 0);
}
