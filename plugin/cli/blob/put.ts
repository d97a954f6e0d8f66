// plugin/cli/blob/put.ts: `blob put`: stores files, several at once. A failure does not stop the others.
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
import type { SourceFile } from "../../author/blobs/file-contents.js";
import { fileSealer, prepareBlob, type SealFile } from "../../author/blobs/prepared-blob.js";
import { misuse, typed, typedHints } from "../../author/invocation.js";
import { shortKey } from "../../blobs/blob.js";
import type { ChangeResult, MetadataChange } from "../../blobs/client/own-blobs.js";
import { TwtxtError } from "../../errors.js";
import type { OwnSiteValues } from "../options.js";
import { createProgress, type Progress, printData } from "../output.js";
import { lineShownSafely, type Terminal } from "../terminal.js";
import { type MetadataValues, readChange } from "./edit-blobs.js";
import { findFiles } from "./put-files.js";

type Values = OwnSiteValues &
  MetadataValues & {
    key: string | undefined;
    markdown: boolean;
    encrypt: boolean;
    to: string[];
    again: boolean;
    concurrency: number | undefined;
  };

/** The result for a file: either `result` or `error` is `null`. */
interface PutResult {
  file: Pick<SourceFile, "shown" | "filename">;
  result: ChangeResult | null;
  /** A sentence. */
  error: string | null;
}

const WHERE = "blob put";
const CONCURRENCY = 4;

export async function put(values: Values, words: string[], terminal: Terminal): Promise<number> {
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
    const batch = new PutBatch({ site, change, values, sealFile, progress, onResult });
    return conclude([...failed, ...(await batch.put(files).finally(progress.end))], values, site.sharedUrl, terminal);
  } finally {
    await clear();
  }
}

interface PutWork {
  site: BlobSite;
  change: MetadataChange;
  values: Pick<Values, "key" | "again" | "concurrency">;
  /** `null` for no encryption. */
  sealFile: SealFile | null;
  progress: Progress;
  /** Called for each file as soon as it is done. */
  onResult(result: PutResult): void;
}

/** The files of one command. Files with the same contents become one blob. */
class PutBatch {
  readonly #work: PutWork;
  /** The files so far, by the keys of their blobs. */
  readonly #byKey = new Map<string, { file: SourceFile; result: Promise<ChangeResult> }>();
  #stored = 0;

  constructor(work: PutWork) {
    this.#work = work;
  }

  /** @returns results in the order of the files @throws TwtxtError if it is interrupted */
  put(files: readonly SourceFile[]): Promise<PutResult[]> {
    const { values, sealFile } = this.#work;
    // Sealing needs the whole file in memory.
    const queue = new PQueue({ concurrency: values.concurrency ?? (sealFile ? 1 : CONCURRENCY) });
    return Promise.all(files.map((file) => queue.add(() => this.#putFile(file, files.length))));
  }

  async #putFile(file: SourceFile, total: number): Promise<PutResult> {
    this.#checkInterrupted(total);
    let result: PutResult;
    try {
      result = { file, result: await this.#putOne(file), error: null };
      this.#stored += 1;
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      this.#checkInterrupted(total);
      const advice = error.code === "bad-metadata" ? " --filename NAME stores it under another name." : "";
      result = { file, result: null, error: error.message + advice };
    }
    this.#work.onResult(result);
    return result;
  }

  #checkInterrupted(total: number): void {
    const { site, sealFile } = this.#work;
    if (!site.signal.aborted) return;
    // Sealing gives new bytes each time, so the same command would send everything again.
    const advice = sealFile ? "" : " To continue, run the same command again.";
    throw new TwtxtError("unreachable", `Interrupted: ${this.#stored} of ${total} stored.${advice}`);
  }

  async #putOne(file: SourceFile): Promise<ChangeResult> {
    const { site, values, change, sealFile, progress } = this.#work;
    const counter = byteCounter(file.size, progress);
    const { key, contents, ...options } = await prepareBlob(file, { site, change, key: values.key, sealFile });
    const same = this.#byKey.get(key);
    const counted = { ...contents, chunks: () => counter.through(contents.chunks()) };
    const putting = same?.result ?? site.blobs.put(key, counted, { ...options, isSentAnyway: values.again });
    if (!same) this.#byKey.set(key, { file, result: putting });
    const result = await putting;
    counter.end();
    if (!same) return result;
    return { ...result, outcome: "unchanged", note: `It is the same as ${same.file.shown}: both are one blob.` };
  }
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
