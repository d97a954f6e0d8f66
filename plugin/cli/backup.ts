// plugin/cli/backup.ts: `eleventy-twtxt backup` and `restore` write all data of a site into one file, and back.
import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { counted, sizeText } from "../author/amounts.js";
import { checkFree, createTemporaryFile, type Draft } from "../author/files.js";
import { misuse } from "../author/invocation.js";
import { endSignal, untilAborted } from "../author/machine.js";
import { openSiteApi, type SiteApiChoice } from "../author/own-site.js";
import { RemoteStore } from "../author/remote-store.js";
import { restoreValues, toRestoreTarget } from "../author/restore.js";
import { loadSite, publishedSite, type Site } from "../author/site.js";
import { isWithinReach, type SiteStore, siteStore, useStoreAlone } from "../author/site-store.js";
import { listNamedContents, RECORDS } from "../blobs/serve/stored.js";
import { orBadFile, TwtxtError } from "../errors.js";
import type { SiteRequest } from "../http/site-api.js";
import { READERS } from "../mentions/answers/readers.js";
import { EVENTS } from "../mentions/receive/event-log.js";
import { listNamedParts, SNAPSHOT } from "../mentions/receive/snapshot.js";
import { readPrefix } from "../site/routes.js";
import { type About, type ArchiveContents, type ArchiveSource, ArchiveWriter, checkArchive } from "../store/archive.js";
import { copyConsistently, type HeadKeys } from "../store/copy.js";
import { SqliteStore } from "../store/sqlite.js";
import { command } from "./command.js";
import { FOLDER, flag, IDENTITY_OPTION, one, option, SETTINGS_OPTION, text, url } from "./options.js";
import { createProgress, createStatusLine, type Terminal } from "./terminal.js";

const ARCHIVE = one(text("FILE", "one file, such as alice.tar.gz"));
const MODE = 0o600;
/** The SHA-256 of the value when all addresses are deleted. */
const NO_READERS = hash("sha256", "{}");
/** The largest binary body that Netlify passes to a function. */
const NETLIFY_BYTES = 4_500_000;
const REMOTE_OPTIONS = {
  url: option(url("https://alice.example"), "the site itself, running there, instead of data on this machine"),
  ...IDENTITY_OPTION,
  ...SETTINGS_OPTION,
};
/** Keys of values that refer to other values of the store. */
export const STORE_HEADS: readonly HeadKeys[] = [
  { prefix: SNAPSHOT, relatedPrefix: EVENTS, referencedKeys: listNamedParts },
  { prefix: RECORDS, relatedPrefix: null, referencedKeys: listNamedContents },
];

export const backup = command({
  name: "backup",
  summary: "writes all data of your site into one file",
  usage: "FILE [options]",
  about:
    "Writes mentions, messages, blobs and the list of what was sent into one tar.gz archive that only you can read. The site may be running. A site on Netlify, or with --url, sends its data itself, signed for by your key. The archive is read again and compared before it gets its name. Your keys are not in it: see keys backup. To restore it: eleventy-twtxt restore FILE",
  options: {
    force: flag("replaces FILE"),
    store: option(FOLDER, "the data of serve --store DIR; with the variables of a bucket, the bucket"),
    ...REMOTE_OPTIONS,
  },
  words: ARCHIVE,
  notes: "Without this program, `tar xzf FILE` and `sha256sum -c SHA256SUMS` unpack and check it.",
  example: `$ eleventy-twtxt backup alice.tar.gz
/home/alice/alice.tar.gz
3412 values, 1.2 GiB, read again and compared.`,
  async run({ force, ...choice }, name, terminal) {
    const file = resolve(terminal.folder, name);
    if (!force) await checkFree(file);
    const site = await loadSite(terminal, choice.settings);
    const signal = endSignal(terminal);
    const data = await openData(site, { command: "backup", ...choice }, signal, terminal);
    const draft = await createTemporaryFile(dirname(file), MODE);
    try {
      const { settings } = await publishedSite(site);
      const about = {
        site: `${settings.url}${readPrefix(settings)}/`,
        created: new Date(terminal.now()).toISOString(),
      };
      const writer = await writeArchive({ draft, signal }, data, about, terminal);
      await compare({ name, chunks: () => untilAborted(draft.chunks(), signal) }, writer, terminal);
      await draft.moveTo(file, force);
      terminal.print(file);
      terminal.say(`${counted(writer.sums.size, "value")}, ${sizeText(writer.bytes)}, read again and compared.`);
      if (![undefined, NO_READERS].includes(writer.sums.get(READERS)))
        terminal.say("It contains mail addresses of readers. Do not share it.");
      return 0;
    } finally {
      await draft.clear();
    }
  },
});

type DataChoice = Parameters<typeof siteStore>[1] & SiteApiChoice;
type SiteData = Omit<SiteStore, "store"> & { store: SiteStore["store"] | RemoteStore };

/**
 * Opens the data at the site, for one on Netlify and with --url, or on this machine.
 *
 * @throws TwtxtError `bad-usage` for --store and --url; as `openSiteApi` and `siteStore`
 */
async function openData(site: Site, choice: DataChoice, signal: AbortSignal, terminal: Terminal): Promise<SiteData> {
  const { command, store, url } = choice;
  if (store !== undefined && url !== undefined) throw misuse(command, "use either --store or --url.");
  if (url === undefined && isWithinReach(site, store, terminal)) return siteStore(site, choice, terminal);
  const { root, ask } = await openSiteApi("siteApi", choice, terminal);
  const data = async (request: SiteRequest) => ask({ ...request, path: `/data${request.path}` });
  return {
    store: new RemoteStore(data, { sleep: terminal.sleep, signal }),
    folder: null,
    place: `the site at ${new URL(root).origin}`,
  };
}

async function writeArchive(
  { draft, signal }: { draft: Draft; signal: AbortSignal },
  { store, place }: SiteData,
  about: About,
  terminal: Terminal,
): Promise<ArchiveWriter> {
  const writer = new ArchiveWriter();
  const status = createStatusLine(terminal);
  const snapshot = store instanceof SqliteStore ? await store.snapshot() : null;
  const bytes = writer.stream(about, async () => {
    await copyConsistently(snapshot ?? store, STORE_HEADS, writer, (done, all) => {
      status(`Reading: ${done} of ${counted(all, "value")}, ${sizeText(writer.bytes)}`);
    });
    if (writer.sums.size === 0) throw new TwtxtError("not-found", `There is no data in ${place}.`);
  });
  try {
    await draft.write(untilAborted(bytes, signal));
  } finally {
    await snapshot?.close();
    status("");
  }
  return writer;
}

/** @throws TwtxtError `bad-file` if the disk does not return what was written */
async function compare(source: ArchiveSource, { sums }: ArchiveWriter, terminal: Terminal): Promise<void> {
  const status = createStatusLine(terminal);
  let read = 0;
  const checking = checkArchive(source, (bytes) => {
    read += bytes;
    status(`Comparing: ${sizeText(read)}`);
  });
  const { values } = await checking.finally(() => status(""));
  const isSame = values.size === sums.size && [...sums].every(([key, sha256]) => values.get(key)?.sha256 === sha256);
  if (!isSame) throw new TwtxtError("bad-file", `${source.name} differs from what was written. Try another disk.`);
}

export const restore = command({
  name: "restore",
  summary: "restores the data of your site from a backup",
  usage: "FILE [options]",
  about:
    "Restores mentions, messages, blobs and the list of what was sent from a file that eleventy-twtxt backup wrote. The whole file is checked before anything is written. Stop serve first; it cannot start during the restore. A site on Netlify, or with --url, must be running: it takes its data itself, signed for by your key.",
  options: {
    force: flag("replaces all data of the site with the backup"),
    store: option(FOLDER, "into the data of serve --store DIR; with the variables of a bucket, into the bucket"),
    ...REMOTE_OPTIONS,
  },
  words: ARCHIVE,
  notes: "Mentions that were sent after the backup may be sent again.",
  example: `$ eleventy-twtxt restore alice.tar.gz
Backup of https://alice.example/ from 2026-11-20T09:00:00.000Z: 3412 values, 1.2 GiB.
Restored into /home/alice/.local/share/eleventy-twtxt/sites/alice.example/store.`,
  async run({ force, ...choice }, name, terminal) {
    const file = resolve(terminal.folder, name);
    const { size } = await orBadFile(stat(file));
    const source = { name, size, chunks: () => createReadStream(file) };
    const site = await loadSite(terminal, choice.settings);
    const signal = endSignal(terminal);
    const data = await openData(site, { command: "restore", ...choice }, signal, terminal);
    const { store, place } = data;
    const isAtSite = store instanceof RemoteStore;
    const leaveStore = isAtSite ? async () => {} : await useStoreAlone({ ...data, store });
    try {
      if (!force) await checkEmpty(data);
      const contents = await check(source, signal, terminal);
      await checkSpace(data, contents);
      if (isAtSite) checkSizes(site, contents);
      const progress = createProgress(terminal, size);
      const target = isAtSite ? store : toRestoreTarget(store);
      const archive = { source, contents, signal, onBytes: progress.add };
      await restoreValues(target, archive).finally(progress.end);
      terminal.say(`Restored into ${place}.`);
      return 0;
    } finally {
      await leaveStore();
    }
  },
});

/** @throws TwtxtError `bad-usage` */
async function checkEmpty({ store, place }: SiteData): Promise<void> {
  const { length } = await store.keys("");
  if (length === 0) return;
  throw new TwtxtError(
    "bad-usage",
    `${place} already has data: ${counted(length, "value")}. Nothing was changed. To replace all of it with the backup, add --force.`,
  );
}

/** @param source - with its size in bytes */
async function check(source: ArchiveSource & { size: number }, signal: AbortSignal, terminal: Terminal) {
  const progress = createProgress(terminal, source.size);
  const checking = checkArchive(source, (bytes) => {
    signal.throwIfAborted();
    progress.add(bytes);
  });
  const contents = await checking.finally(progress.end);
  const { about, values } = contents;
  const size = `${counted(values.size, "value")}, ${sizeText(sumBytes(contents))}`;
  terminal.say(`Backup of ${about.site} from ${about.created}: ${size}.`);
  return contents;
}

/** @throws TwtxtError `store-failed` before anything was written */
async function checkSpace({ folder }: SiteData, contents: ArchiveContents): Promise<void> {
  if (folder === null) return;
  const { bavail, bsize } = await statfs(folder);
  if (sumBytes(contents) <= bavail * bsize) return;
  const [wanted, free] = [sumBytes(contents), bavail * bsize].map(sizeText);
  throw new TwtxtError("store-failed", `The backup needs ${wanted}, and ${folder} has ${free} of free space.`);
}

/** @throws TwtxtError `too-large` before anything was written */
function checkSizes({ settings: { host } }: Site, { values }: ArchiveContents): void {
  if (host !== "netlify") return;
  const large = [...values].filter(([, { size }]) => size > NETLIFY_BYTES).map(([key]) => key);
  const [first] = large;
  if (first === undefined) return;
  throw new TwtxtError(
    "too-large",
    `Netlify passes no request of more than ${sizeText(NETLIFY_BYTES)} to a function, and ${counted(large.length, "value")} of the backup ${large.length === 1 ? "is" : "are"} larger, such as ${first}. Nothing was changed.`,
  );
}

function sumBytes({ values }: ArchiveContents): number {
  return [...values.values()].reduce((sum, { size }) => sum + size, 0);
}
