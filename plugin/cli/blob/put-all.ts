// plugin/cli/blob/put-all.ts: puts many files, several at once. A failure does not stop the others.

import { buffer } from "node:stream/consumers";
import PQueue from "p-queue";
import { isContentAddress } from "../../blobs/blob.js";
import type { Outcome, Wish } from "../../blobs/client/change.js";
import type { Contents } from "../../blobs/client/client.js";
import { SEALED_TYPE } from "../../blobs/client/sealed-file.js";
import { checkFilename } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { typed } from "../invocation.js";
import { type Progress, sizeText } from "../output.js";
import type { BlobOwner } from "./blob-owner.js";
import { MAX_SEALED, type SealFile } from "./encrypt-files.js";
import { contentsOf, contentsOfBytes, mediaTypeOf, type Source } from "./files-to-put.js";

/** The result for a file: either `outcome` or `error` is `null`. */
export interface PutResult {
  source: Pick<Source, "shown" | "filename">;
  outcome: Outcome | null;
  /** A sentence. */
  error: string | null;
}

export interface PutWork {
  owner: BlobOwner;
  wish: Wish;
  /** Instead of the SHA-256. */
  key: string | undefined;
  /** `null` for no encryption. */
  seal: SealFile | null;
  /** Whether to send files that the site says it has. */
  isSentAnyway: boolean;
  progress: Progress;
  signal: AbortSignal;
}

/** A file as a blob. */
interface ToPut {
  contents: Contents;
  wish: Wish;
  found: Pick<Wish, "type" | "filename">;
}

/**
 * @param onResult - called for each file as soon as it is done
 * @returns results in the order of the sources
 * @throws TwtxtError where it is interrupted
 */
export async function putAll(
  sources: readonly Source[],
  work: PutWork,
  { concurrency, onResult }: { concurrency: number; onResult(result: PutResult): void },
): Promise<PutResult[]> {
  const queue = new PQueue({ concurrency });
  const taken: Taken = new Map();
  let done = 0;
  const check = () => {
    if (work.signal.aborted) throw interrupted(done, sources.length, work);
  };
  const results = sources.map((source) =>
    queue.add(async () => {
      check();
      const result = await resultOf(source, () => putOne(source, taken, work));
      if (result.error !== null) check();
      if (result.outcome) done += 1;
      onResult(result);
      return result;
    }),
  );
  return Promise.all(results);
}

/** Sealing gives new bytes each time, so a repeated command sends everything again. */
function interrupted(done: number, all: number, { seal }: PutWork): TwtxtError {
  const advice = seal ? "" : " To continue, run the same command again.";
  return new TwtxtError("unreachable", `Interrupted: ${done} of ${all} put.${advice}`);
}

async function resultOf(source: Source, putting: () => Promise<Outcome>): Promise<PutResult> {
  try {
    return { source, outcome: await putting(), error: null };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return { source, outcome: null, error: error.message };
  }
}

/** The files so far, by the keys of their blobs. */
type Taken = Map<string, { source: Source; outcome: Promise<Outcome> }>;

async function putOne(source: Source, taken: Taken, work: PutWork): Promise<Outcome> {
  const { owner, progress, isSentAnyway } = work;
  const passing = countedBytes(source.size, progress);
  checkSize(source.size, work);
  const { contents, wish, found } = await toPut(source, work);
  // Sealing adds some bytes.
  checkSize(contents.size, work);
  const key = checkedKey(work.key ?? contents.sha256, contents);
  const other = taken.get(key);
  if (other) {
    const outcome = await other.outcome;
    passing.end();
    return { ...outcome, outcome: "unchanged", note: sameAs(other.source) };
  }
  const counted = { ...contents, chunks: () => passing.through(contents.chunks()) };
  const putting = owner.put(key, counted, { wish, found, isSentAnyway });
  taken.set(key, { source, outcome: putting });
  const outcome = await putting;
  passing.end();
  return outcome;
}

async function toPut({ file, shown, filename }: Source, { wish, seal, signal }: PutWork): Promise<ToPut> {
  if (wish.filename === undefined) checkName(filename);
  const contents = await contentsOf(file, shown, signal);
  const type = wish.type ?? (await mediaTypeOf(filename, contents));
  const found = { type, ...(filename !== "" && { filename }) };
  if (!seal) return { contents, wish, found };
  const sealed = seal({ filename: wish.filename ?? filename, type, bytes: await buffer(contents.chunks()) });
  return { contents: contentsOfBytes(sealed), wish: { ...wish, type: SEALED_TYPE, filename: "" }, found: {} };
}

/** @throws TwtxtError `bad-metadata` */
function checkName(filename: string): void {
  try {
    checkFilename(filename);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    throw new TwtxtError(error.code, `${error.message} --filename NAME stores it under another name.`, {
      cause: error,
    });
  }
}

function sameAs({ shown }: Source): string {
  return `It is the same as ${shown}: both are one blob.`;
}

/** Counts each byte once, and bytes that need not be sent at the end. */
function countedBytes(size: number, progress: Progress) {
  let left = size;
  const add = (bytes: number) => {
    const more = Math.min(bytes, left);
    left -= more;
    progress.add(more);
  };
  return {
    async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        yield chunk;
        add(chunk.length);
      }
    },
    end: () => add(left),
  };
}

/** @throws TwtxtError `bad-usage` */
function checkedKey(key: string, { sha256 }: Contents): string {
  if (!isContentAddress(key) || key === sha256) return key;
  throw new TwtxtError("bad-usage", `A key of 64 hex characters has to be the SHA-256 of the file, here ${sha256}.`);
}

/** @throws TwtxtError `too-large` */
function checkSize(size: number, { owner: { maxBytes, host }, seal }: PutWork): void {
  if (seal && size > MAX_SEALED) {
    const limit = sizeText(MAX_SEALED);
    throw new TwtxtError("too-large", `A file has to be at most ${limit} to be sealed.`);
  }
  if (size <= maxBytes) return;
  const needed = Math.ceil(size / 2 ** 20) + (seal ? 1 : 0);
  const more = `accepts it with the option blobs: { maxMegabytes: ${needed} } or more`;
  const advice =
    host === "netlify"
      ? `Netlify accepts no larger body; \`${typed("serve")}\` on your own host ${more}.`
      : `The site ${more}, once it is built and deployed.`;
  throw new TwtxtError("too-large", `It is larger than the ${sizeText(maxBytes)} that the site accepts. ${advice}`);
}
