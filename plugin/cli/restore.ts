// plugin/cli/restore.ts: `eleventy-twtxt restore` restores the data of a site from a backup.
import { createReadStream } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { type ArchiveContents, type ArchiveSource, checkArchive, valuesOf } from "../store/archive.js";
import type { StreamingStore } from "../store/store.js";
import { hashOf, SMALL_BYTES, writeValue } from "../store/value.js";
import { one } from "./arguments.js";
import { command } from "./command.js";
import { badFile } from "./files.js";
import { FOLDER, flag, option, SETTINGS_OPTION, text } from "./options.js";
import { counted, progressOf, sizeText } from "./output.js";
import { siteAt } from "./site.js";
import { checkWithinReach, type SiteStore, siteStore, useStoreAlone } from "./site-store.js";
import { endingOf, type Terminal } from "./terminal.js";

export const restore = command({
  name: "restore",
  summary: "restores the data of your site from a backup",
  usage: "FILE [options]",
  about:
    "Restores mentions, messages, blobs and the list of what was sent from a file that eleventy-twtxt backup wrote. The whole file is checked before anything is written. Stop serve first; it cannot start meanwhile.",
  options: {
    force: flag("replaces all data of the site with the backup"),
    store: option(FOLDER, "into the data of serve --store DIR; with the variables of a bucket, into the bucket"),
    ...SETTINGS_OPTION,
  },
  words: one(text("FILE", "one file, such as alice.tar.gz")),
  notes: "Mentions that were sent after the backup may be sent again.",
  example: `$ eleventy-twtxt restore alice.tar.gz
Backup of https://alice.example/ from 2026-11-20T09:00:00.000Z: 3412 values, 1.2 GiB.
Restored into /home/alice/.local/share/eleventy-twtxt/sites/alice.example/store.`,
  async run({ force, store, settings }, word, terminal) {
    const source = await sourceAt(word, terminal);
    const site = await siteAt(terminal, settings);
    const request = { command: "restore", store, isReadOnly: false };
    checkWithinReach(site, request, terminal);
    const data = await siteStore(site, request, terminal);
    const leaveStore = await useStoreAlone(data);
    try {
      if (!force) await checkEmpty(data);
      const signal = endingOf(terminal);
      const contents = await check(source, signal, terminal);
      await checkSpace(data, contents);
      await write(data.store, { source, contents, signal }, terminal);
      terminal.say(`Restored into ${data.place}.`);
      return 0;
    } finally {
      await leaveStore();
    }
  },
});

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
    `${place} already has data: ${counted(length, "value")}. Nothing was changed. To replace all of it with the backup, add --force.`,
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
    const size = `${counted(values.size, "value")}, ${sizeText(bytesOf(contents))}`;
    progress.above(() => terminal.say(`Backup of ${about.site} from ${about.created}: ${size}.`));
    return contents;
  } finally {
    progress.end();
  }
}

/** @throws TwtxtError `store-failed` before anything was written */
async function checkSpace({ folder }: SiteStore, contents: ArchiveContents): Promise<void> {
  if (folder === null) return;
  const { bavail, bsize } = await statfs(folder);
  if (bytesOf(contents) <= bavail * bsize) return;
  const [wanted, free] = [bytesOf(contents), bavail * bsize].map(sizeText);
  throw new TwtxtError("store-failed", `The backup needs ${wanted}, and ${folder} has ${free} of free space.`);
}

/** Writes values before it deletes others: after an interruption, the same command completes the work. */
async function write(
  store: StreamingStore,
  { source, contents, signal }: { source: SizedSource; contents: ArchiveContents; signal: AbortSignal },
  terminal: Terminal,
): Promise<void> {
  const progress = progressOf(terminal, source.size);
  try {
    for await (const { key, value, chunks } of valuesOf(source, contents, progress.add)) {
      if (signal.aborted) throw interrupted();
      const isStored = value.size > SMALL_BYTES && (await hashOf(store, key)) === value.sha256;
      if (!isStored) await writeValue(store, key, { size: value.size, chunks });
    }
    for (const key of await store.keys("")) if (!contents.values.has(key)) await store.delete(key);
  } finally {
    progress.end();
  }
}

function interrupted(): TwtxtError {
  return new TwtxtError("store-failed", "Interrupted: the data is incomplete. To continue, add --force.");
}

function bytesOf({ values }: ArchiveContents): number {
  return [...values.values()].reduce((sum, { size }) => sum + size, 0);
}
