// plugin/store/netlify.ts: store in Netlify Blobs.
import { type Store as Blobs, type GetStoreOptions, getStore } from "@netlify/blobs";
import { TwtxtError } from "../errors.js";
import type { Fetch } from "../transport/fetch.js";
import { concatChunks, toStream } from "./chunks.js";
import { describeError, fetchWithRetry } from "./fetch-with-retry.js";
import { ListedStore } from "./folder-listings.js";
import { type Condition, checkKey, isKey, type Range, type StoredValue, type StreamingStore } from "./store.js";

/** A status that Netlify's client reports as a failure without retrying. */
const FAILED_STATUS = 424;
/** Timeout of a call with all its tries and pages. */
const TOTAL_MS = 10_000;

export interface NetlifyStoreOptions extends Pick<GetStoreOptions, "siteID" | "token" | "edgeURL" | "uncachedEdgeURL"> {
  /** The store's name within the site, at most 64 bytes. The other options default to the environment of a function. */
  name: string;
  /** Default: `fetchSafely`. */
  fetch?: Fetch;
}

/**
 * A store in Netlify Blobs, read with strong consistency.
 *
 * In production an etag is a hash of the bytes. Under `netlify dev` it is a hash of path and time, and conditional writes
 * are not atomic: two writers at once may both succeed.
 */
export class NetlifyStore extends ListedStore implements StreamingStore {
  constructor(private readonly options: NetlifyStoreOptions) {
    super();
  }

  async get(key: string): Promise<StoredValue | null> {
    checkKey(key);
    return this.#run(async (blobs) => {
      const found = await read(blobs, key);
      return found?.etag === "" ? readListed(blobs, key) : found;
    });
  }

  async put(key: string, bytes: Uint8Array, condition?: Condition): Promise<string | null> {
    checkKey(key);
    // The client treats an empty etag as no condition.
    if (condition && "etag" in condition && condition.etag === "") return null;
    return this.#run(async (blobs) => {
      const { buffer } = Uint8Array.from(bytes);
      const { modified, etag } = await blobs.set(key, buffer, {
        ...(condition && ("isNew" in condition ? { onlyIfNew: true } : { onlyIfMatch: condition.etag })),
      });
      if (!modified) return null;
      // The client reports every answer to a conditional write as success, except 412.
      if (!etag) throw new Error("the answer to a write has no etag");
      this.note(key, "written");
      return etag;
    });
  }

  // A function receives a request as a whole and values are a few megabytes, so streaming would gain nothing.
  async write(key: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    checkKey(key);
    await this.put(key, await concatChunks(chunks));
  }

  async read(key: string, range?: Range): Promise<ReadableStream<Uint8Array> | null> {
    checkKey(key);
    const found = await this.#run((blobs) => read(blobs, key));
    return found && toStream(found.bytes, range);
  }

  async delete(key: string): Promise<void> {
    checkKey(key);
    await this.#run((blobs) => blobs.delete(key));
    this.note(key, "deleted");
  }

  protected listKeys(prefix: string): Promise<string[]> {
    return this.#run(async (blobs) => {
      const found: string[] = [];
      for await (const page of blobs.list({ prefix, paginate: true })) {
        // `netlify dev` also lists keys that are a prefix of the prefix.
        found.push(...page.blobs.map(({ key }) => key).filter((key) => key.startsWith(prefix) && isKey(key)));
      }
      return found;
    });
  }

  /** Opens the store for one operation, with a timeout and a record of failures of its own. */
  async #run<T>(operation: (blobs: Blobs) => Promise<T>): Promise<T> {
    const { fetch, failure } = recordingFetch(AbortSignal.timeout(TOTAL_MS), this.options.fetch);
    try {
      return await operation(getStore({ ...this.options, consistency: "strong", fetch }));
    } catch (error) {
      const cause = failure() ?? (error as Error);
      throw new TwtxtError("store-failed", `Netlify Blobs failed: ${describeError(cause)}.`, { cause });
    }
  }
}

/** @returns an empty etag if the server sends none */
async function read(blobs: Blobs, key: string): Promise<StoredValue | null> {
  // The etag may be missing, unlike in the client's types.
  const found: { data: ArrayBuffer; etag?: string } | null = await blobs.getWithMetadata(key, { type: "arrayBuffer" });
  return found && { bytes: new Uint8Array(found.data), etag: found.etag ?? "" };
}

/**
 * Reads an etag from the list, the only place where `netlify dev` sends it. The list is read first: a write in between makes
 * the etag too old, which a condition detects, and never too new.
 */
async function readListed(blobs: Blobs, key: string): Promise<StoredValue | null> {
  const { blobs: listed } = await blobs.list({ prefix: key });
  const etag = listed.find((blob) => blob.key === key)?.etag;
  const found = await read(blobs, key);
  if (found && !etag) throw new Error(`${key} has no etag`);
  return found && etag ? { ...found, etag } : null;
}

/**
 * A fetch that records why it failed. Netlify's client would retry for half a minute, even a conditional write that may
 * have happened.
 */
function recordingFetch(signal: AbortSignal, inner?: Fetch): { fetch: Fetch; failure(): Error | null } {
  let failure: Error | null = null;
  return {
    failure: () => failure,
    async fetch(url, init) {
      try {
        const answer = await fetchWithRetry(url, { ...init, signal, ...(inner && { fetch: inner }) });
        // The client does not read every body, and an unread one would keep its connection open.
        return new Response(answer.body && (await answer.arrayBuffer()), answer);
      } catch (error) {
        failure = error as Error;
        return new Response(null, { status: FAILED_STATUS });
      }
    },
  };
}
