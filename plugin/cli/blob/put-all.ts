// plugin/cli/blob/put-all.ts: puts many files, some at once; the failure of one does not stop the others.

import { buffer } from "node:stream/consumers";
import PQueue from "p-queue";
import { isContentAddress } from "../../blobs/blob.js";
import type { Outcome, Wish } from "../../blobs/client/change.js";
import type { Contents } from "../../blobs/client/client.js";
import { SEALED_TYPE } from "../../blobs/client/sealed-file.js";
import { checkFilename } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { typed } from "../invocation.js";
import { contentsOf, contentsOfBytes } from "./contents.js";
import { MAX_SEALED, type SealFile } from "./encrypt.js";
import { mediaTypeOf } from "./media-type.js";
import type { BlobOwner } from "./owner.js";
import type { Progress } from "./progress.js";
import { sizeText } from "./shown.js";
import type { Source } from "./sources.js";

/** What has come of a file: one of both is `null`. */
export interface PutResult {
  source: Pick<Source, "shown" | "filename">;
  outcome: Outcome | null;
  /** A sentence. */
  error: string | null;
}

export interface PutWork {
  owner: BlobOwner;
  wish: Wish;
  /** In the place of the SHA-256. */
  key: string | undefined;
  /** `null` where it is put as it is. */
  seal: SealFile | null;
  /** Whether files are sent also where the site says that it has them. */
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
 * @param tell - told of each as soon as it is done
 * @returns in the order of the sources
 * @throws TwtxtError where it is broken off
 */
export async function putAll(
  sources: readonly Source[],
  work: PutWork,
  { concurrency, tell }: { concurrency: number; tell(result: PutResult): void },
): Promise<PutResult[]> {
  const queue = new PQueue({ concurrency });
  const taken: Taken = new Map();
  let done = 0;
  const check = () => {
    if (work.signal.aborted) throw brokenOff(done, sources.length, work);
  };
  const results = sources.map((source) =>
    queue.add(async () => {
      check();
      const result = await resultOf(source, () => putOne(source, taken, work));
      if (result.error !== null) check();
      if (result.outcome) done += 1;
      tell(result);
      return result;
    }),
  );
  return Promise.all(results);
}

/** What is sealed is new bytes each time. */
function brokenOff(done: number, all: number, { seal }: PutWork): TwtxtError {
  const advice = seal ? "" : " Type the same again to go on.";
  return new TwtxtError("unreachable", `Broken off: ${done} of ${all} put.${advice}`);
}

async function resultOf(source: Source, putting: () => Promise<Outcome>): Promise<PutResult> {
  try {
    return { source, outcome: await putting(), error: null };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return { source, outcome: null, error: error.message };
  }
}

/** What becomes of the files so far, by the keys of their blobs. */
type Taken = Map<string, { source: Source; outcome: Promise<Outcome> }>;

async function putOne(source: Source, taken: Taken, work: PutWork): Promise<Outcome> {
  const { owner, progress, isSentAnyway } = work;
  const passing = passingOf(source.size, progress);
  checkSize(source.size, work);
  const { contents, wish, found } = await toPut(source, work);
  // Sealing makes it a little larger.
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
    throw new TwtxtError(error.code, `${error.message} --filename NAME puts it under another one.`, { cause: error });
  }
}

function sameAs({ shown }: Source): string {
  return `It is the same as ${shown}, and one blob with it.`;
}

/** What goes by counts once, and what need not be sent is done as well. */
function passingOf(size: number, progress: Progress) {
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
  throw new TwtxtError("bad-usage", `A key of 64 hex characters is the SHA-256 of what is put, here ${sha256}.`);
}

/** @throws TwtxtError `too-large` */
function checkSize(size: number, { owner: { maxBytes, host }, seal }: PutWork): void {
  if (seal && size > MAX_SEALED) {
    const limit = sizeText(MAX_SEALED);
    throw new TwtxtError("too-large", `What is sealed is opened as a whole, and may have ${limit} at most.`);
  }
  if (size <= maxBytes) return;
  const needed = Math.ceil(size / 2 ** 20) + (seal ? 1 : 0);
  const more = `takes it with the option blobs: { maxMegabytes: ${needed} } or more`;
  const advice =
    host === "netlify"
      ? `Netlify accepts no larger body; \`${typed("serve")}\` on a host of your own ${more}.`
      : `The site ${more}, once it is built and deployed.`;
  throw new TwtxtError("too-large", `It has more than the ${sizeText(maxBytes)} that the site takes. ${advice}`);
}
