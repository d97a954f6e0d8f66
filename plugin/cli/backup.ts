// plugin/cli/backup.ts: `eleventy-twtxt backup` writes all data of a site into one file.
import { dirname, resolve } from "node:path";
import { contentsNamedIn, RECORDS } from "../blobs/serve/stored.js";
import { TwtxtError } from "../errors.js";
import { EVENTS } from "../mentions/receive/event-log.js";
import { partsNamedIn, SNAPSHOT } from "../mentions/receive/snapshot.js";
import { prefixOf } from "../site/routes.js";
import { type ArchiveSource, ArchiveWriter, checkArchive } from "../store/archive.js";
import { copyConsistently, type HeadKeys } from "../store/consistent-copy.js";
import { one } from "./arguments.js";
import { command } from "./command.js";
import { checkFree, type Draft, draftIn } from "./files.js";
import { FOLDER, flag, option, SETTINGS_OPTION, text } from "./options.js";
import { counted, sizeText, statusOf } from "./output.js";
import { publishedSite, siteAt } from "./site.js";
import { checkWithinReach, type SiteStore, siteStore } from "./site-store.js";
import { endingOf, type Terminal } from "./terminal.js";

const MODE = 0o600;
/** Keys of values that refer to other values of the store. */
export const STORE_HEADS: readonly HeadKeys[] = [
  { prefix: SNAPSHOT, relatedPrefix: EVENTS, referencedKeys: partsNamedIn },
  { prefix: RECORDS, relatedPrefix: null, referencedKeys: contentsNamedIn },
];

export const backup = command({
  name: "backup",
  summary: "writes all data of your site into one file",
  usage: "FILE [options]",
  about:
    "Writes mentions, messages, blobs and the list of what was sent into one tar.gz archive that only you can read. The site may be running. The archive is read again and compared before it gets its name. Your keys are not in it: see keys backup. To restore it: eleventy-twtxt restore FILE",
  options: {
    force: flag("replaces FILE"),
    store: option(FOLDER, "the data of serve --store DIR; with the variables of a bucket, the bucket"),
    ...SETTINGS_OPTION,
  },
  words: one(text("FILE", "one file, such as alice.tar.gz")),
  notes: "Without this program, `tar xzf FILE` and `sha256sum -c SHA256SUMS` unpack and check it.",
  example: `$ eleventy-twtxt backup alice.tar.gz
/home/alice/alice.tar.gz
3412 values, 1.2 GiB, read again and compared.`,
  async run({ force, store, settings }, word, terminal) {
    const file = resolve(terminal.folder, word);
    if (!force) await checkFree(file);
    const site = await siteAt(terminal, settings);
    const request = { command: "backup", store, isReadOnly: true };
    checkWithinReach(site, request, terminal);
    const data = await siteStore(site, request, terminal);
    const { settings: published } = await publishedSite(site);
    const about = {
      site: `${published.url}${prefixOf(published)}/`,
      created: new Date(terminal.now()).toISOString(),
    };
    const signal = endingOf(terminal);
    const draft = await draftIn(dirname(file), MODE);
    try {
      const writer = await write({ draft, signal }, data, about, terminal);
      await compare({ name: word, chunks: () => untilEnded(draft.chunks(), signal) }, writer, terminal);
      await draft.moveTo(file, force);
      terminal.print(file);
      terminal.say(`${counted(writer.sums.size, "value")}, ${sizeText(writer.bytes)}, read again and compared.`);
      return 0;
    } finally {
      await draft.clear();
    }
  },
});

async function write(
  { draft, signal }: { draft: Draft; signal: AbortSignal },
  { store, place }: SiteStore,
  about: Parameters<ArchiveWriter["stream"]>[0],
  terminal: Terminal,
): Promise<ArchiveWriter> {
  const writer = new ArchiveWriter();
  const status = statusOf(terminal);
  const bytes = writer.stream(about, async () => {
    await copyConsistently(store, STORE_HEADS, writer, (done, all) => {
      status(`Reading: ${done} of ${counted(all, "value")}, ${sizeText(writer.bytes)}`);
    });
    if (writer.sums.size === 0) throw new TwtxtError("not-found", `There is no data in ${place}.`);
  });
  try {
    await draft.write(untilEnded(bytes, signal));
  } finally {
    status("");
  }
  return writer;
}

/** @throws TwtxtError `bad-file` where the disk does not return what was written */
async function compare(source: ArchiveSource, { sums }: ArchiveWriter, terminal: Terminal): Promise<void> {
  const status = statusOf(terminal);
  let read = 0;
  try {
    const { values } = await checkArchive(source, (bytes) => {
      read += bytes;
      status(`Comparing: ${sizeText(read)}`);
    });
    const isSame = values.size === sums.size && [...sums].every(([key, sha256]) => values.get(key)?.sha256 === sha256);
    if (!isSame) throw new TwtxtError("bad-file", `${source.name} differs from what was written. Try another disk.`);
  } finally {
    status("");
  }
}

async function* untilEnded(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
