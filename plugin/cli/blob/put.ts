// plugin/cli/blob/put.ts: `blob put`: finds files and stores them, several at once. A failure does not stop the others.
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import PQueue from "p-queue";
import { listed, sizeText } from "../../author/amounts.js";
import {
  type BlobSite,
  blobSite,
  choosePlace,
  formatMarkdown,
  toFacts,
  visibility,
} from "../../author/blobs/blob-site.js";
import {
  fileSealer,
  findFile,
  prepareBlob,
  readStat,
  type SealFile,
  type SourceFile,
} from "../../author/blobs/file-contents.js";
import { createTemporaryFile, type Draft } from "../../author/files.js";
import { misuse, typed, typedHints } from "../../author/invocation.js";
import { shortKey } from "../../blobs/blob.js";
import type { ChangeResult, MetadataChange } from "../../blobs/client/own-blobs.js";
import { badFile, ifTwtxtError, TwtxtError } from "../../errors.js";
import {
  address,
  flag,
  number,
  type OwnSiteValues,
  oneOrMore,
  option,
  repeatable,
  text,
  type ValuesOf,
} from "../options.js";
import { createProgress, lineShownSafely, type Progress, printData, type Terminal } from "../terminal.js";
import { action, KEY, MARKDOWN, METADATA, readChange } from "./blob-options.js";

/** The result for a file: either `result` or `error` is `null`. */
interface PutResult {
  file: Pick<SourceFile, "shown" | "filename">;
  result: ChangeResult | null;
  /** A sentence. */
  error: string | null;
}

const WHERE = "blob put";
const CONCURRENCY = 4;

const OPTIONS = {
  ...METADATA,
  key: option({ ...KEY, name: "NAME" }, "stores it under this key, where another file can replace it later"),
  ...MARKDOWN,
  encrypt: flag("seals the file first: the site sees its size and a time only"),
  to: repeatable(address("bob@bob.example"), "a recipient of --encrypt besides you"),
  again: flag("also sends files that the site says it has"),
  concurrency: option(number(1, 32), "how many files to send at once (default 4; with --encrypt 1)"),
};

type Values = OwnSiteValues & ValuesOf<typeof OPTIONS>;

export const put = action({
  usage: ["FILE|FOLDER|-... [--public|--private] [--key NAME] [--markdown]", "FILE... --encrypt [--to ADDRESS]..."],
  help: "stores files, all files in folders, and with - standard input. Files that the site already has are not sent again. Prints the shared URL of a public blob, or the key of a private one",
  options: OPTIONS,
  words: oneOrMore(text("FILE", 'a file, a folder, or "-" for standard input')),
  async run(values, words, terminal) {
    const change = readChange(values, WHERE);
    if (words.filter((word) => word === "-").length > 1) throw misuse(WHERE, '"-", standard input, is allowed once.');
    if (values.to.length > 0 && !values.encrypt) throw misuse(WHERE, "--to needs --encrypt.");
    const site = await blobSite(values, terminal);
    const sealFile = values.encrypt ? await fileSealer(values.to, site.author, values, terminal) : null;
    const { files, leftOut, unread, clear } = await findFiles(words, { terminal, ...site });
    try {
      for (const line of leftOut) terminal.say(lineShownSafely(line));
      const count = files.length + unread.length;
      if (count === 0) throw new TwtxtError("bad-file", "There is no file to store.");
      if (count > 1 && (values.key ?? values.filename) !== undefined) {
        throw misuse(WHERE, "--key and --filename are for one file.");
      }
      const total = files.reduce((sum, { size }) => sum + size, 0);
      const progress = createProgress(terminal, total);
      const onResult = (result: PutResult) => progress.above(() => show(result, values, site.sharedUrl, terminal));
      const failed = unread.map(({ shown, error }) => ({ file: { shown, filename: "" }, result: null, error }));
      failed.forEach(onResult);
      const work = { site, change, values, sealFile, progress, onResult };
      const results = [...failed, ...(await putAll(files, work).finally(progress.end))];
      return conclude(results, values, site.sharedUrl, terminal);
    } finally {
      await clear();
    }
  },
});

interface PutWork {
  site: BlobSite;
  change: MetadataChange;
  values: Pick<Values, "key" | "again" | "concurrency">;
  /** `null` for no encryption. */
  sealFile: SealFile | null;
  progress: Progress;
  onResult(result: PutResult): void;
}

/** @returns results in the order of the files @throws TwtxtError if it is interrupted */
function putAll(files: readonly SourceFile[], { site, change, values, sealFile, progress, onResult }: PutWork) {
  const byKey = new Map<string, { file: SourceFile; result: Promise<ChangeResult> }>();
  let stored = 0;
  const checkInterrupted = () => {
    if (!site.signal.aborted) return;
    // Sealing gives new bytes each time, so the same command would send everything again.
    const advice = sealFile ? "" : " To continue, run the same command again.";
    throw new TwtxtError("unreachable", `Interrupted: ${stored} of ${files.length} stored.${advice}`);
  };
  const putOne = async (file: SourceFile): Promise<ChangeResult> => {
    const counter = byteCounter(file.size, progress);
    const { key, contents, ...options } = await prepareBlob(file, { site, change, key: values.key, sealFile });
    const same = byKey.get(key);
    const counted = { ...contents, chunks: () => counter.through(contents.chunks()) };
    const putting = same?.result ?? site.blobs.put(key, counted, { ...options, isSentAnyway: values.again });
    if (!same) byKey.set(key, { file, result: putting });
    const result = await putting;
    counter.end();
    if (!same) return result;
    return { ...result, outcome: "unchanged", note: `It is the same as ${same.file.shown}: both are one blob.` };
  };
  const putFile = async (file: SourceFile): Promise<PutResult> => {
    checkInterrupted();
    const explain = ({ code, message }: TwtxtError) => {
      checkInterrupted();
      const advice = code === "bad-metadata" ? " --filename NAME stores it under another name." : "";
      return { file, result: null, error: message + advice };
    };
    const done = (result: ChangeResult) => ({ file, result, error: null });
    const result = await putOne(file).then(done, ifTwtxtError(explain));
    if (result.result) stored += 1;
    onResult(result);
    return result;
  };
  // Sealing needs the whole file in memory.
  const queue = new PQueue({ concurrency: values.concurrency ?? (sealFile ? 1 : CONCURRENCY) });
  return Promise.all(files.map((file) => queue.add(() => putFile(file))));
}

/** Counts each byte once; `end` counts the bytes that were not sent. */
function byteCounter(size: number, progress: Progress) {
  let left = size;
  const count = (bytes: number) => {
    const counted = Math.min(bytes, left);
    left -= counted;
    progress.add(counted);
  };
  return {
    async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        yield chunk;
        count(chunk.length);
      }
    },
    end: () => count(left),
  };
}

function show({ file, result, error }: PutResult, values: Values, sharedUrl: string, terminal: Terminal): void {
  const say = (text: string) => terminal.say(lineShownSafely(`${file.shown}: ${text}`));
  if (error !== null) say(typedHints(error));
  if (!result) return;
  const { outcome, blob, note } = result;
  say([outcome, sizeText(blob.size), visibility(blob), shortKey(blob.key)].join(", "));
  if (note !== null) say(note);
  if (values.json) return;
  terminal.print(values.markdown ? formatMarkdown(blob, file.filename) : choosePlace(blob, sharedUrl));
}

/** @returns the exit code */
function conclude(results: readonly PutResult[], values: Values, sharedUrl: string, terminal: Terminal): number {
  const facts = results.map(({ file, result, error }) => ({
    file: file.shown,
    ...(result ? { outcome: result.outcome, ...toFacts(result.blob, sharedUrl), note: result.note } : { error }),
  }));
  printData(facts, [], values, terminal);
  if (values.to.length > 0 || values.markdown) {
    const keys = results.flatMap(({ result }) => (result && !result.blob.isPublic ? shortKey(result.blob.key) : []));
    for (const key of keys) {
      terminal.say(`${key} is private. To let others get it, type: ${typed(`blob share ${key}`)}`);
    }
  }
  const states = results.map(({ result }) => result?.outcome ?? "failed");
  const counts = (["new", "replaced", "changed", "unchanged", "failed"] as const).map(
    (state) => [states.filter((one) => one === state).length, state] as const,
  );
  if (results.length > 1) terminal.say(`${listed(counts)}.`);
  return states.includes("failed") ? 1 : 0;
}

interface FoundFiles {
  files: SourceFile[];
  /** A line for each entry of a folder that was left out, with the reason. */
  leftOut: string[];
  /** Files and folders that cannot be read, and why, a sentence. */
  unread: { shown: string; error: string }[];
}

const STANDARD_INPUT = "-";

/**
 * Finds all files: named ones, those below folders, and standard input.
 *
 * @param maxBytes - a limit for standard input
 * @returns the files; `clear` deletes the temporary copy of standard input
 * @throws TwtxtError if it is interrupted
 */
export async function findFiles(
  words: readonly string[],
  { terminal, maxBytes, signal }: { terminal: Terminal; maxBytes: number; signal: AbortSignal },
): Promise<FoundFiles & { clear(): Promise<void> }> {
  const found: FoundFiles = { files: [], leftOut: [], unread: [] };
  let draft: Draft | null = null;
  const clear = async () => draft?.clear();
  const add = async (word: string) => {
    const path = resolve(terminal.folder, word);
    if (word === STANDARD_INPUT) {
      draft = await createTemporaryFile(null, 0o600);
      found.files.push(await copyInput(terminal.input(), draft, { maxBytes, signal }));
    } else if ((await readStat(path)).isDirectory()) await addFolder(await realpath(path), word, found);
    else found.files.push(await findFile(path, word));
  };
  try {
    for (const word of words) await unlessUnread(word, found, () => add(word));
    return { ...found, clear };
  } catch (error) {
    await clear();
    throw error;
  }
}

async function unlessUnread(shown: string, { unread }: FoundFiles, look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    const failure = badFile(error);
    if (!(failure instanceof TwtxtError) || failure.code !== "bad-file") throw failure;
    unread.push({ shown, error: failure.message });
  }
}

async function addFolder(root: string, word: string, found: FoundFiles, folder = root): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const shown = join(word, relative(root, path));
    await unlessUnread(shown, found, async () => {
      if (entry.name.startsWith(".")) found.leftOut.push(`${shown}: skipped, because it is hidden.`);
      else if (entry.isDirectory()) await addFolder(root, word, found, path);
      else if (entry.isFile() || (entry.isSymbolicLink() && (await isFileWithin(root, path)))) {
        found.files.push(await findFile(path, shown));
      } else found.leftOut.push(`${shown}: skipped, because it is not a file in this folder.`);
    });
  }
}

/** A symbolic link may lead to files that were not meant to be published. */
async function isFileWithin(root: string, link: string): Promise<boolean> {
  const target = await realpath(link).catch(() => undefined);
  if (!target?.startsWith(root + sep)) return false;
  const names = relative(root, target).split(sep);
  return !names.some((name) => name.startsWith(".")) && (await stat(target)).isFile();
}

/** Copies standard input into a file: size and hash must be known before it is sent. */
async function copyInput(
  input: AsyncIterable<Uint8Array>,
  draft: Draft,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<SourceFile> {
  let size = 0;
  const limited = async function* () {
    for await (const chunk of input) {
      size += chunk.length;
      yield chunk;
      // The first chunk over the limit is enough to refuse it.
      if (size > maxBytes) return;
    }
  };
  try {
    await draft.write(limited(), signal);
    return { shown: "standard input", filename: "", size, chunks: draft.chunks };
  } catch (cause) {
    signal.throwIfAborted();
    throw new TwtxtError("bad-file", `Standard input could not be read: ${(cause as Error).message}`, { cause });
  }
}
