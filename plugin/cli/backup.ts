// plugin/cli/backup.ts: `eleventy-twtxt backup` writes all that a site keeps into one file.
import { dirname, resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { STORE_HEADS } from "../host/store-heads.js";
import { prefixOf } from "../site/routes.js";
import { type ArchiveSource, ArchiveWriter, checkArchive } from "../store/archive.js";
import { copyConsistently } from "../store/consistent-copy.js";
import { checkFree, type Draft, draftIn } from "./blob/draft.js";
import { endingOf } from "./blob/owner.js";
import { sizeText } from "./blob/shown.js";
import { misuse, readArguments } from "./command.js";
import { publishedSite, siteAt } from "./site.js";
import { checkWithinReach, type SiteStore, siteStore } from "./site-store.js";
import type { Terminal } from "./terminal.js";

export const name = "backup";
export const summary = "writes all that your site keeps into one file";
export const help = `Usage: eleventy-twtxt backup FILE [options]

Writes mentions, messages, blobs and what was sent into one file, a tar.gz archive, which only you can
read. The site may be running meanwhile. The file is read again and compared before it gets its name.
Your keys are not in it: see keys backup. Bring it back with: eleventy-twtxt restore FILE

  --force           replaces FILE
  --store DIR       the data of serve --store DIR; with the variables of a bucket, the bucket
  --settings FILE   the settings of the site (default .eleventy-twtxt/settings.json)

Without this program, \`tar xzf FILE\` and \`sha256sum -c SHA256SUMS\` unpack and check it.

Example:
  $ eleventy-twtxt backup alice.tar.gz
  /home/alice/alice.tar.gz
  3412 values, 1.2 GiB, read again and compared.`;

const OPTIONS = { force: { type: "boolean" }, store: { type: "string" } } as const;
const MODE = 0o600;

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const [word, ...others] = positionals;
  if (word === undefined || others.length > 0) throw misuse(`${name}: name one file, such as alice.tar.gz.`, name);
  const file = resolve(terminal.folder, word);
  if (!values.force) await checkFree(file);
  const site = await siteAt(terminal, values.settings);
  const wish = { command: name, store: values.store, isReadOnly: true };
  checkWithinReach(site, wish, terminal);
  const data = await siteStore(site, wish, terminal);
  const { settings } = await publishedSite(site);

  const signal = endingOf(terminal);
  const draft = await draftIn(dirname(file), MODE);
  try {
    const about = { site: `${settings.url}${prefixOf(settings)}/`, created: new Date(terminal.now()).toISOString() };
    const writer = await write({ draft, signal }, data, about, terminal);
    await compare({ name: word, chunks: () => untilEnded(draft.chunks(), signal) }, writer, terminal);
    await draft.moveTo(file, values.force ?? false);
    terminal.print(file);
    terminal.say(`${countText(writer.sums.size)}, ${sizeText(writer.bytes)}, read again and compared.`);
    return 0;
  } finally {
    await draft.clear();
  }
}

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
      status(`Reading: ${done} of ${countText(all)}, ${sizeText(writer.bytes)}`);
    });
    if (writer.sums.size === 0) throw new TwtxtError("not-found", `There is nothing to back up in ${place}.`);
  });
  try {
    await draft.write(untilEnded(bytes, signal));
  } finally {
    status("");
  }
  return writer;
}

/** @throws TwtxtError `bad-file` where the disk does not give back what was written */
async function compare(source: ArchiveSource, { sums }: ArchiveWriter, terminal: Terminal): Promise<void> {
  const status = statusOf(terminal);
  let read = 0;
  try {
    const { values } = await checkArchive(source, (bytes) => {
      read += bytes;
      status(`Comparing: ${sizeText(read)}`);
    });
    const isSame = values.size === sums.size && [...sums].every(([key, sha256]) => values.get(key)?.sha256 === sha256);
    if (!isSame) throw new TwtxtError("bad-file", `${source.name} does not hold what was written. Try another disk.`);
  } finally {
    status("");
  }
}

/** @example countText(1) // "1 value" */
export function countText(values: number): string {
  return `${values} ${values === 1 ? "value" : "values"}`;
}

/** Shows a line where a person looks on, each time that it is another one. */
function statusOf({ isTerminal, showStatus }: Terminal): (line: string) => void {
  let shown = "";
  return (line) => {
    if (isTerminal.stderr && line !== shown) showStatus(line);
    shown = line;
  };
}

async function* untilEnded(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
