// plugin/store/s3.ts: a store in a bucket of S3, or of another service that speaks like it.
import { TwtxtError } from "../errors.js";
import { whyOf } from "./patient-fetch.js";
import { type Hindrance, type S3BucketOptions, s3Bucket } from "./s3-bucket.js";
import { listPage, listQuery } from "./s3-list.js";
import { idleLimit, uploadOf, watched } from "./s3-streams.js";
import { type Condition, checkKey, checkPrefix, isKey, type Range, type StreamingStore } from "./store.js";

/** A strong one: a weak one matches no condition. */
const ETAG = /^"[^"\p{C}]+"$/u;

export interface S3StoreOptions extends S3BucketOptions {
  /**
   * For a call with all its tries and pages, and for a stream as long as nothing of it moves, in milliseconds; default
   * 10,000.
   */
  totalMs?: number;
}

/**
 * A store in a bucket, or in a part of it. The service must know conditional writes (`If-None-Match: *` and `If-Match` of
 * a PUT): where it overlooks them, of two writers at once both win.
 *
 * @throws TwtxtError `bad-option` for what cannot be an endpoint, a bucket or a prefix
 */
export function s3Store({ totalMs = 10_000, ...options }: S3StoreOptions): StreamingStore {
  const { bucket, prefix = "" } = options;
  const send = s3Bucket(options);
  const failed = (cause: unknown) =>
    new TwtxtError("store-failed", `The S3 bucket ${bucket} failed: ${whyOf(cause as Error)}.`, { cause });
  const ask = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      return await work(AbortSignal.timeout(totalMs));
    } catch (cause) {
      throw failed(cause);
    }
  };

  return {
    async get(key) {
      checkKey(key);
      return ask(async (signal) => {
        const answer = await send({ method: "GET", path: prefix + key, signal }, ["no such key"]);
        return answer && { bytes: new Uint8Array(await answer.arrayBuffer()), etag: etagOf(answer) };
      });
    },

    async put(key, bytes, condition) {
      checkKey(key);
      if (condition && "etag" in condition && !ETAG.test(condition.etag)) return null;
      const body = Uint8Array.from(bytes);
      const headers = conditional(condition);
      return ask(async (signal) => {
        const answer = await send(
          { method: "PUT", path: prefix + key, headers, body, signal },
          hindrancesOf(condition),
        );
        return answer && writtenBy(answer);
      });
    },

    async write(key, chunks, size) {
      checkKey(key);
      const idle = idleLimit(totalMs);
      const { body, isTaken, fault } = uploadOf(chunks, size, idle);
      idle.start();
      try {
        const headers = { "content-length": String(size) };
        const answer = await send({ method: "PUT", path: prefix + key, body, headers, signal: idle.signal });
        if (!answer || !isTaken()) throw new Error("it answered before it had all of a value");
        await writtenBy(answer);
      } catch (cause) {
        const thrown = fault();
        throw thrown ? thrown.error : failed(cause);
      } finally {
        idle.end();
      }
    },

    async read(key, range) {
      checkKey(key);
      const idle = idleLimit(totalMs);
      idle.start();
      try {
        const headers: Record<string, string> = range ? { range: `bytes=${range.first}-${range.last}` } : {};
        const answer = await send({ method: "GET", path: prefix + key, headers, signal: idle.signal }, ["no such key"]);
        return answer && watched(bodyOf(answer, range), idle, failed);
      } catch (cause) {
        idle.end();
        throw failed(cause);
      } finally {
        idle.stop();
      }
    },

    async delete(key) {
      checkKey(key);
      await ask(async (signal) => {
        const answer = await send({ method: "DELETE", path: prefix + key, signal }, ["no such key"]);
        if (answer && answer.status !== 204) throw new Error(`it answered a deletion with status ${answer.status}`);
      });
    },

    async keys(start) {
      checkPrefix(start);
      return ask(async (signal) => {
        const found: string[] = [];
        let next: string | null = null;
        do {
          const answer = await send({ method: "GET", query: listQuery(prefix + start, next), signal });
          const page = listPage((await answer?.text()) ?? "");
          const ours = page.keys.filter((key) => key.startsWith(prefix + start));
          found.push(...ours.map((key) => key.slice(prefix.length)).filter(isKey));
          next = page.next;
        } while (next !== null);
        return found;
      });
    },
  };
}

function conditional(condition: Condition | undefined): Record<string, string> {
  if (!condition) return {};
  return "isNew" in condition ? { "if-none-match": "*" } : { "if-match": condition.etag };
}

function hindrancesOf(condition: Condition | undefined): Hindrance[] {
  if (!condition) return [];
  return "isNew" in condition ? ["condition does not hold"] : ["condition does not hold", "no such key"];
}

/** @throws Error where the version that was written, or read, has no name that a condition could be made of */
function etagOf({ headers }: Response): string {
  const etag = headers.get("etag") ?? "";
  if (!ETAG.test(etag)) throw new Error("its answer has no etag");
  return etag;
}

/** The etag of what was written, once the answer is there as a whole. */
async function writtenBy(answer: Response): Promise<string> {
  await answer.body?.cancel();
  return etagOf(answer);
}

/** @throws Error for another part than the one that was asked for, such as all of it */
function bodyOf(answer: Response, range: Range | undefined): ReadableStream<Uint8Array> {
  etagOf(answer);
  const { body, headers, status } = answer;
  const part = headers.get("content-range") ?? "";
  const isAsked = range ? status === 206 && part.startsWith(`bytes ${range.first}-${range.last}/`) : status === 200;
  if (!isAsked || !body) throw new Error(`it answered with status ${status} and not with the part that was asked for`);
  return body;
}
