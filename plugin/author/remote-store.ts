// plugin/author/remote-store.ts: the store of the author's site, over signed requests, and restoring a backup into it. GET, POST and PUT /api/v1/site/data
import { createHash } from "node:crypto";
import * as v from "valibot";
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
  SMALL_VALUE_BYTES,
  WriteAnswer,
} from "../site/stored-data.js";
import { type ArchiveContents, type ArchiveSource, readValues } from "../store/archive.js";
import { ChunkMeter, concatChunks, toStream } from "../store/chunks.js";
import { retry, type Sleep } from "../store/retry.js";
import {
  type Condition,
  checkKey,
  checkPrefix,
  type FolderSurvey,
  type ListRange,
  pageOfKeys,
  type Range,
  type StoredValue,
  type StreamingStore,
  surveyKeys,
} from "../store/store.js";
import { counted } from "./amounts.js";
import { createTemporaryFile } from "./files.js";

/** Pauses before a request is repeated, in milliseconds: a function starts, a connection breaks, a limit is reached. */
const PAUSES_MS = [500, 2000, 8000, 30_000];
const AHEAD = BATCH_VALUES;

export interface NamedValue {
  key: string;
  bytes: Uint8Array;
}

/** A value that was read ahead; only its size if it is large. */
type Ahead = ReadAnswer["values"][number];

/**
 * The store of a site. Requests are bounded in size and repeated if they fail, and each value is compared with its hash.
 *
 * Small values are read ahead in the order of the keys that were listed last. They are as new as that list, or newer.
 */
export class RemoteStore implements StreamingStore {
  readonly #ask: AskSite;
  readonly #sleep: Sleep;
  readonly #signal: AbortSignal;
  #listed: readonly string[] = [];
  #ahead = new Map<string, Ahead>();

  /** @param signal - ends requests and pauses */
  constructor(ask: AskSite, { sleep, signal }: { sleep: Sleep; signal: AbortSignal }) {
    this.#ask = ask;
    this.#sleep = sleep;
    this.#signal = signal;
  }

  async keys(prefix: string): Promise<string[]> {
    checkPrefix(prefix);
    const all: string[] = [];
    for (let after = ""; ; ) {
      const page = await this.#page(prefix, after);
      all.push(...page.keys);
      if (page.next === null || page.next <= after) break;
      after = page.next;
    }
    this.#listed = all.toSorted();
    this.#ahead.clear();
    return all;
  }

  async list(prefix: string, range: ListRange): Promise<string[]> {
    if (range.isReversed) return pageOfKeys(await this.keys(prefix), range);
    checkPrefix(prefix);
    const { after = "", limit } = range;
    const found: string[] = [];
    for (let start = after; found.length < limit; ) {
      const { keys, next } = await this.#page(prefix, start);
      found.push(...keys);
      if (next === null || next <= start) break;
      start = next;
    }
    return found.slice(0, limit);
  }

  async survey(folder: string, id?: string): Promise<FolderSurvey> {
    return surveyKeys(await this.keys(folder), folder, id);
  }

  async get(key: string): Promise<StoredValue | null> {
    checkKey(key);
    this.#ahead.delete(key);
    const [value = null] = await this.#readAll([key]);
    if (value === null) return null;
    if (!("size" in value)) return { bytes: decodeValue(key, value), etag: value.etag };
    const bytes = await concatChunks(this.#parts(key, { first: 0, last: value.size - 1 }));
    return { bytes, etag: createHash("sha256").update(bytes).digest("hex") };
  }

  async read(key: string, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    checkKey(key);
    const value = await this.#readAhead(key);
    if (value === null) return null;
    if (!("size" in value)) return toStream(decodeValue(key, value), range);
    return this.#readLarge(key, range ?? { first: 0, last: value.size - 1 });
  }

  async put(key: string, bytes: Uint8Array, condition?: Condition): Promise<string | null> {
    checkKey(key);
    const [etag = null] = await this.putAll([{ key, bytes }], condition);
    return etag;
  }

  /** Writes small values in this order. @returns the new etag of each */
  async putAll(values: readonly NamedValue[], condition?: Condition): Promise<(string | null)[]> {
    const write = values.map(({ key, bytes }) => ({
      key,
      base64: Buffer.from(bytes).toString("base64"),
      sha256: createHash("sha256").update(bytes).digest("hex"),
      ...(condition && { etag: "isNew" in condition ? null : condition.etag }),
    }));
    for (const { key } of values) this.#ahead.delete(key);
    return (await this.#post(WriteAnswer, { write })).etags;
  }

  async write(key: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    checkKey(key);
    const draft = await createTemporaryFile(null, 0o600);
    try {
      const meter = new ChunkMeter();
      await draft.write(meter.pass(chunks), this.#signal);
      const body = { size, sha256: Buffer.from(meter.sha256(), "hex"), chunks: () => draft.chunks() };
      // `netlify dev` changes bodies whose type is not named.
      const headers = { "content-type": "application/octet-stream" };
      await this.#repeat({ method: "PUT", path: `/${key}`, headers, body });
    } finally {
      await draft.clear();
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    await this.deleteAll([key]);
  }

  async deleteAll(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += BATCH_VALUES) {
      await this.#post(DeleteAnswer, { delete: keys.slice(at, at + BATCH_VALUES) });
    }
    for (const key of keys) this.#ahead.delete(key);
  }

  /** The SHA-256 of each value in hex; `null` for a missing one. */
  async hashAll(keys: readonly string[]): Promise<(string | null)[]> {
    return (await this.#post(HashAnswer, { hash: [...keys] })).hashes;
  }

  #page(prefix: string, after: string): Promise<KeysAnswer> {
    const query = new URLSearchParams({ ...(prefix && { prefix }), ...(after && { after }) }).toString();
    return this.#json(KeysAnswer, { method: "GET", path: query && `?${query}` });
  }

  async #readAhead(key: string): Promise<Ahead> {
    if (!this.#ahead.has(key)) {
      const at = this.#listed.indexOf(key);
      const keys = at < 0 ? [key] : this.#listed.slice(at, at + AHEAD);
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
  async #readLarge(key: string, range: Range): Promise<ReadableStream<Uint8Array> | null> {
    const draft = await createTemporaryFile(null, 0o600);
    try {
      await draft.write(this.#parts(key, range), this.#signal);
      return draft.stream();
    } catch (error) {
      await draft.clear();
      if (error instanceof TwtxtError && error.code === "not-found") return null;
      throw error;
    }
  }

  /** A large value in parts that fit into an answer. */
  async *#parts(key: string, { first, last }: Range): AsyncGenerator<Uint8Array> {
    for (let from = first; from <= last; from += BATCH_BYTES) {
      const to = Math.min(last, from + BATCH_BYTES - 1);
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
    const answer = v.safeParse(schema, await this.#repeat(request, (one) => one.json()));
    if (answer.success) return answer.output;
    throw new TwtxtError(
      "unreachable",
      "Another server answers there, or the site has another version: deploy the site.",
    );
  }

  /** Repeats a request that had no answer, signed anew. All of them may be repeated. */
  async #repeat<T = SiteAnswer>(
    request: SiteRequest,
    read: (answer: SiteAnswer) => Promise<T> = async (answer) => answer as T,
  ): Promise<T> {
    const mayRepeat = (error: unknown) => {
      this.#signal.throwIfAborted();
      return error instanceof TwtxtError && error.code === "unreachable";
    };
    const attempt = async () => read(await this.#ask({ ...request, signal: this.#signal }));
    return retry(attempt, { pauses: PAUSES_MS, mayRepeat, sleep: (pause) => this.#sleep(pause, this.#signal) });
  }
}

/** @throws TwtxtError `store-failed` for bytes that do not match their hash */
function decodeValue(key: string, { base64, sha256 }: { base64: string; sha256: string }): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(base64, "base64"));
  if (createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
  throw new TwtxtError("store-failed", `${key} does not match the hash that the site has sent with it.`);
}

/** A running site may delete values meanwhile, such as events that it has folded into a snapshot: they are written again. */
const ROUNDS = 4;

interface CheckedArchive {
  source: ArchiveSource;
  contents: ArchiveContents;
  /** Ends the restore between two requests. */
  signal: AbortSignal;
}

/** Shows the progress; an empty line removes it. */
type ShowStatus = (line: string) => void;

/**
 * Makes the site have the values of a backup. Values that it has already are not sent, so that the same command goes on after
 * an interruption. Values that were there at the start and are not in the backup are deleted at the end; what the site stores
 * meanwhile stays.
 *
 * @throws TwtxtError `store-failed` if it was interrupted, or the site loses values as often as they are written
 */
export async function restoreSite(store: RemoteStore, archive: CheckedArchive, show: ShowStatus): Promise<void> {
  const { values } = archive.contents;
  const before = await store.keys("");
  try {
    let missing = new Map(values);
    for (let round = 0; round < ROUNDS && missing.size > 0; round += 1) {
      await writeMissing(store, { ...archive, contents: { ...archive.contents, values: missing } }, show);
      const stored = new Set(await store.keys(""));
      missing = new Map([...values].filter(([key]) => !stored.has(key) && !key.startsWith("nonces/")));
    }
    if (missing.size > 0) {
      throw new TwtxtError(
        "store-failed",
        `The site has lost ${counted(missing.size, "value")} again. Try again later.`,
      );
    }
    await store.deleteAll(before.filter((key) => !values.has(key)));
  } finally {
    show("");
  }
}

async function writeMissing(store: RemoteStore, { source, contents, signal }: CheckedArchive, show: ShowStatus) {
  let batch: NamedValue[] = [];
  let bytes = 0;
  let done = 0;
  const flush = async () => {
    await writeChanged(store, batch, contents);
    done += batch.length;
    [batch, bytes] = [[], 0];
    show(`Restoring: ${done} of ${counted(contents.values.size, "value")}`);
  };
  for await (const { key, value, chunks } of readValues(source, contents, () => {})) {
    if (signal.aborted) {
      throw new TwtxtError("store-failed", "Interrupted: the data is incomplete. To continue, add --force.");
    }
    const isLarge = value.size > SMALL_VALUE_BYTES;
    if (isLarge || bytes + value.size > BATCH_BYTES || batch.length === BATCH_VALUES) await flush();
    if (isLarge) {
      await writeLarge(store, key, { ...value, chunks });
      done += 1;
    } else {
      batch.push({ key, bytes: await concatChunks(chunks) });
      bytes += value.size;
    }
  }
  await flush();
}

async function writeChanged(store: RemoteStore, batch: readonly NamedValue[], { values }: ArchiveContents) {
  if (batch.length === 0) return;
  const hashes = await store.hashAll(batch.map(({ key }) => key));
  const changed = batch.filter(({ key }, at) => hashes[at] !== values.get(key)?.sha256);
  if (changed.length > 0) await store.putAll(changed);
}

async function writeLarge(
  store: RemoteStore,
  key: string,
  { size, sha256, chunks }: { size: number; sha256: string; chunks: AsyncIterable<Uint8Array> },
): Promise<void> {
  const [stored = null] = await store.hashAll([key]);
  if (stored === sha256) return;
  if (stored !== null) await store.delete(key);
  await store.write(key, chunks, size);
}
