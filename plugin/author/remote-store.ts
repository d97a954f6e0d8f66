// plugin/author/remote-store.ts: the values of the author's site, over signed requests, for backup and restore. GET, POST and PUT /api/v1/site/data
import { createHash } from "node:crypto";
import type * as v from "valibot";
import { TwtxtError } from "../errors.js";
import type { AskSite, SiteAnswer, SiteRequest } from "../http/site-api.js";
import {
  BATCH_BYTES,
  BATCH_VALUES,
  type DataRequest,
  DeleteAnswer,
  HashAnswer,
  KeysAnswer,
  ReadAnswer,
  WriteAnswer,
} from "../site/stored-data.js";
import { ChunkMeter, concatChunks, toStream } from "../store/chunks.js";
import type { CopySource } from "../store/copy.js";
import { retry, type Sleep } from "../store/retry.js";
import type { StoredValue } from "../store/store.js";
import { createTemporaryFile } from "./files.js";
import { parseAnswer } from "./own-site.js";
import type { NamedValue, RestoreTarget } from "./restore.js";

/** Pauses before a request is repeated, in milliseconds: a function starts, a connection breaks, a limit is reached. */
const PAUSES_MS = [500, 2000, 8000, 30_000];

/** A value that was read ahead; only its size if it is large. */
type Ahead = ReadAnswer["values"][number];

/**
 * The values of a site. Requests are bounded in size and repeated if they fail, and each value is compared with its hash.
 *
 * Small values are read ahead in the order of the keys that were listed last. They are as new as that list, or newer.
 */
export class RemoteStore implements CopySource, RestoreTarget {
  #listed: readonly string[] = [];
  #ahead = new Map<string, Ahead>();

  /** @param options - `signal` ends requests and pauses */
  constructor(
    private readonly ask: AskSite,
    private readonly options: { sleep: Sleep; signal: AbortSignal },
  ) {}

  async keys(prefix: string): Promise<string[]> {
    const all: string[] = [];
    for (let after = ""; ; ) {
      const query = new URLSearchParams({ ...(prefix && { prefix }), ...(after && { after }) }).toString();
      const page = await this.#json(KeysAnswer, { method: "GET", path: query && `?${query}` });
      all.push(...page.keys);
      if (page.next === null || page.next <= after) break;
      after = page.next;
    }
    this.#listed = all.toSorted();
    this.#ahead.clear();
    return all;
  }

  async get(key: string): Promise<StoredValue | null> {
    this.#ahead.delete(key);
    const [value = null] = await this.#readAll([key]);
    if (value === null) return null;
    if (!("size" in value)) return { bytes: decodeValue(key, value), etag: value.etag };
    const bytes = await concatChunks(this.#parts(key, value.size));
    return { bytes, etag: createHash("sha256").update(bytes).digest("hex") };
  }

  async read(key: string): Promise<ReadableStream<Uint8Array> | null> {
    const value = await this.#readAhead(key);
    if (value === null) return null;
    return "size" in value ? this.#readLarge(key, value.size) : toStream(decodeValue(key, value));
  }

  async putAll(values: readonly NamedValue[]): Promise<void> {
    const write = values.map(({ key, bytes }) => ({
      key,
      base64: Buffer.from(bytes).toString("base64"),
      sha256: createHash("sha256").update(bytes).digest("hex"),
    }));
    await this.#post(WriteAnswer, { write });
  }

  async write(key: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    const draft = await createTemporaryFile(null, 0o600);
    try {
      const meter = new ChunkMeter();
      await draft.write(meter.pass(chunks), this.options.signal);
      const body = { size, sha256: Buffer.from(meter.sha256(), "hex"), chunks: () => draft.chunks() };
      // `netlify dev` changes bodies whose type is not named.
      const headers = { "content-type": "application/octet-stream" };
      await this.#repeat({ method: "PUT", path: `/${key}`, headers, body });
    } finally {
      await draft.clear();
    }
  }

  async deleteAll(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += BATCH_VALUES) {
      await this.#post(DeleteAnswer, { delete: keys.slice(at, at + BATCH_VALUES) });
    }
  }

  async hashAll(keys: readonly string[]): Promise<(string | null)[]> {
    return (await this.#post(HashAnswer, { hash: [...keys] })).hashes;
  }

  async #readAhead(key: string): Promise<Ahead> {
    if (!this.#ahead.has(key)) {
      const at = this.#listed.indexOf(key);
      const keys = at < 0 ? [key] : this.#listed.slice(at, at + BATCH_VALUES);
      const values = await this.#readAll(keys);
      for (const [n, value] of values.entries()) this.#ahead.set(keys[n] ?? "", value);
    }
    const value = this.#ahead.get(key) ?? null;
    this.#ahead.delete(key);
    return value;
  }

  async #readAll(keys: string[]): Promise<Ahead[]> {
    const { values } = await this.#post(ReadAnswer, { read: keys });
    if (values.length > 0 && values.length <= keys.length) return values;
    throw new TwtxtError("unreachable", "The site has answered with other values than those that were requested.");
  }

  /** In a file first, because the value may be deleted between two parts. */
  async #readLarge(key: string, size: number): Promise<ReadableStream<Uint8Array> | null> {
    const draft = await createTemporaryFile(null, 0o600);
    try {
      await draft.write(this.#parts(key, size), this.options.signal);
      return draft.stream();
    } catch (error) {
      await draft.clear();
      if (error instanceof TwtxtError && error.code === "not-found") return null;
      throw error;
    }
  }

  /** A large value in parts that fit into an answer. */
  async *#parts(key: string, size: number): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < size; from += BATCH_BYTES) {
      const to = Math.min(size, from + BATCH_BYTES) - 1;
      const headers = { range: `bytes=${from}-${to}` };
      const part = await this.#repeat({ method: "GET", path: `/${key}`, headers }, (answer) =>
        concatChunks(answer.chunks()),
      );
      if (part.length !== to - from + 1) throw new TwtxtError("store-failed", `${key} was cut off by the site.`);
      yield part;
    }
  }

  #post<T>(schema: v.GenericSchema<unknown, T>, request: DataRequest): Promise<T> {
    const body = Buffer.from(JSON.stringify(request));
    return this.#json(schema, { method: "POST", path: "", headers: { "content-type": "application/json" }, body });
  }

  async #json<T>(schema: v.GenericSchema<unknown, T>, request: SiteRequest): Promise<T> {
    return parseAnswer(schema, await this.#repeat(request, (one) => one.json()), "The site");
  }

  /** Repeats a request that had no answer, signed anew. All of them may be repeated. */
  async #repeat<T = SiteAnswer>(
    request: SiteRequest,
    read: (answer: SiteAnswer) => Promise<T> = async (answer) => answer as T,
  ): Promise<T> {
    const { sleep, signal } = this.options;
    const mayRepeat = (error: unknown) => {
      signal.throwIfAborted();
      return error instanceof TwtxtError && error.code === "unreachable";
    };
    const attempt = async () => read(await this.ask({ ...request, signal }));
    return retry(attempt, { pauses: PAUSES_MS, mayRepeat, sleep: (pause) => sleep(pause, signal) });
  }
}

/** @throws TwtxtError `store-failed` for bytes that do not match their hash */
function decodeValue(key: string, { base64, sha256 }: { base64: string; sha256: string }): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(base64, "base64"));
  if (createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
  throw new TwtxtError("store-failed", `${key} does not match the hash that the site has sent with it.`);
}
