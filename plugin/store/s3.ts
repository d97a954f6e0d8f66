// plugin/store/s3.ts: store in an S3 bucket, or in a service with the same API.
import { TwtxtError } from "../errors.js";
import { IdleLimit } from "../transport/idle-limit.js";
import { checkSize, concatChunks } from "./chunks.js";
import { describeError } from "./fetch-with-retry.js";
import { ListedStore } from "./folder-listings.js";
import { startUpload, withIdleLimit } from "./paced-streams.js";
import { type ExpectedFailure, listPage, listQuery, type S3BucketOptions, type Send, s3Bucket } from "./s3-bucket.js";
import {
  type Condition,
  checkKey,
  checkPrefix,
  isKey,
  type ListRange,
  type Range,
  type StoredValue,
  type StreamingStore,
} from "./store.js";

/** Streamed values up to this size are held in memory, so that their upload can be retried. */
const BUFFERED_BYTES = 4 * 2 ** 20;

/** A strong etag: a weak one matches no condition. */
const ETAG = /^"[^"\p{C}]+"$/u;

export interface S3StoreOptions extends S3BucketOptions {
  /** Timeout of a call with all its tries and pages, and idle timeout of a stream, in milliseconds; default 10,000. */
  totalMs?: number;
}

/**
 * A store in a bucket, or in a part of it. The service must support conditional writes (`If-None-Match: *` and `If-Match`
 * of a PUT): if it ignores them, two writers at once both succeed.
 *
 * @throws TwtxtError `bad-option` for an invalid endpoint, bucket or prefix
 */
export class S3Store extends ListedStore implements StreamingStore {
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #totalMs: number;
  readonly #send: Send;

  constructor({ totalMs = 10_000, ...options }: S3StoreOptions) {
    super();
    this.#bucket = options.bucket;
    this.#prefix = options.prefix ?? "";
    this.#totalMs = totalMs;
    this.#send = s3Bucket(options);
  }

  async get(key: string): Promise<StoredValue | null> {
    checkKey(key);
    return this.#run((signal) => this.#read(this.#prefix + key, signal));
  }

  async put(key: string, bytes: Uint8Array, condition?: Condition): Promise<string | null> {
    checkKey(key);
    if (condition && "etag" in condition && !ETAG.test(condition.etag)) return null;
    const path = this.#prefix + key;
    const { headers, expected } = toTerms(condition);
    const request = { method: "PUT", path, headers, body: Uint8Array.from(bytes) } as const;
    return this.#run(async (signal) => {
      // Writers that compete write different bytes, so the same bytes are those of an earlier try.
      const readBack = async () => {
        const found = await this.#read(path, signal);
        return found && Buffer.compare(found.bytes, bytes) === 0
          ? new Response(null, { headers: { etag: found.etag } })
          : null;
      };
      const answer = await this.#send({ ...request, ...(condition && { readBack }), signal }, expected);
      if (!answer) return null;
      this.note(key, "written");
      return writtenEtag(answer);
    });
  }

  async #read(path: string, signal: AbortSignal): Promise<StoredValue | null> {
    const answer = await this.#send({ method: "GET", path, signal }, ["no such key"]);
    return answer && { bytes: new Uint8Array(await answer.arrayBuffer()), etag: readEtag(answer) };
  }

  async write(key: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    checkKey(key);
    if (size <= BUFFERED_BYTES) return void (await this.put(key, await concatChunks(checkSize(chunks, size))));
    const idle = new IdleLimit(this.#totalMs);
    const { body, isTaken, fault, end } = startUpload(chunks, size, idle);
    idle.start();
    try {
      const request = { path: this.#prefix + key, body, headers: { "content-length": String(size) } };
      const answer = await this.#send({ method: "PUT", ...request, signal: idle.signal });
      if (!answer || !isTaken()) throw new Error("it answered before it had received the whole value");
      await writtenEtag(answer);
      this.note(key, "written");
    } catch (cause) {
      const thrown = fault();
      throw thrown ? thrown.error : this.#failure(cause);
    } finally {
      end();
      idle.end();
    }
  }

  async read(key: string, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    checkKey(key);
    const idle = new IdleLimit(this.#totalMs);
    idle.start();
    try {
      const headers: Record<string, string> = range ? { range: `bytes=${range.first}-${range.last}` } : {};
      const request = { path: this.#prefix + key, headers, signal: idle.signal };
      const answer = await this.#send({ method: "GET", ...request }, ["no such key"]);
      return answer && withIdleLimit(readBody(answer, range), idle, (cause) => this.#failure(cause));
    } catch (cause) {
      idle.end();
      throw this.#failure(cause);
    } finally {
      idle.stop();
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    await this.#run(async (signal) => {
      const answer = await this.#send({ method: "DELETE", path: this.#prefix + key, signal }, ["no such key"]);
      if (answer && answer.status !== 204) throw new Error(`it answered a deletion with status ${answer.status}`);
      this.note(key, "deleted");
    });
  }

  protected listKeys(prefix: string): Promise<string[]> {
    return this.list(prefix, { limit: Number.POSITIVE_INFINITY });
  }

  override async list(start: string, range: ListRange): Promise<string[]> {
    if (range.isReversed) return super.list(start, range);
    checkPrefix(start);
    const { after, limit } = range;
    const prefix = this.#prefix + start;
    const startAfter = after === undefined ? undefined : this.#prefix + after;
    return this.#run(async (signal) => {
      const found: string[] = [];
      let next: string | null = null;
      do {
        const query = listQuery({ prefix, startAfter, limit: limit - found.length, next });
        const answer = await this.#send({ method: "GET", query, signal });
        const page = listPage((await answer?.text()) ?? "");
        const matching = page.keys.filter((key) => key.startsWith(prefix));
        found.push(...matching.map((key) => key.slice(this.#prefix.length)).filter(isKey));
        next = page.next;
      } while (next !== null && found.length < limit);
      return found.slice(0, limit);
    });
  }

  async #run<T>(operation: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await operation(AbortSignal.timeout(this.#totalMs));
    } catch (cause) {
      throw this.#failure(cause);
    }
  }

  #failure(cause: unknown): TwtxtError {
    const what = `The S3 bucket ${this.#bucket} failed: ${describeError(cause as Error)}.`;
    return new TwtxtError("store-failed", what, { cause });
  }
}

/** The header of a conditional write, and the refusals that it expects. */
function toTerms(condition: Condition | undefined): { headers: Record<string, string>; expected: ExpectedFailure[] } {
  if (!condition) return { headers: {}, expected: [] };
  if ("isNew" in condition) return { headers: { "if-none-match": "*" }, expected: ["condition does not hold"] };
  return { headers: { "if-match": condition.etag }, expected: ["condition does not hold", "no such key"] };
}

/** @throws Error if the response has no etag that could be used in a condition */
function readEtag({ headers }: Response): string {
  const etag = headers.get("etag") ?? "";
  if (!ETAG.test(etag)) throw new Error("its answer has no etag");
  return etag;
}

async function writtenEtag(answer: Response): Promise<string> {
  await answer.body?.cancel();
  return readEtag(answer);
}

/** @throws Error if the response is not the requested range, for example if the range was ignored */
function readBody(answer: Response, range: Range | undefined): ReadableStream<Uint8Array> {
  readEtag(answer);
  const { body, headers, status } = answer;
  const part = headers.get("content-range") ?? "";
  const isRequested = range ? status === 206 && part.startsWith(`bytes ${range.first}-${range.last}/`) : status === 200;
  if (!isRequested || !body) throw new Error(`it answered with status ${status} instead of the requested range`);
  return body;
}
