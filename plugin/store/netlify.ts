// plugin/store/netlify.ts: a store in Netlify Blobs.
import { type Store as Blobs, type GetStoreOptions, getStore } from "@netlify/blobs";
import { TwtxtError } from "../errors.js";
import { joined, streamOf } from "./chunks.js";
import { patientFetch, whyOf } from "./patient-fetch.js";
import { type Condition, checkKey, checkPrefix, isKey, type Stored, type StreamingStore } from "./store.js";

/** A status that the client takes for a failure and does not try again by itself. */
const GIVEN_UP = 424;

export interface NetlifyStoreOptions extends Pick<GetStoreOptions, "siteID" | "token" | "edgeURL" | "uncachedEdgeURL"> {
  /** Of the store within the site, at most 64 bytes. All that is left out, a function has in its environment. */
  name: string;
  /** For a call with all its tries and pages, in milliseconds; default 10,000. */
  totalMs?: number;
}

/**
 * A store in Netlify Blobs, read with strong consistency.
 *
 * In production an etag is a hash of the bytes. Under `netlify dev` it is one of path and time, and the server there looks
 * at a condition and writes in two steps, so that of two writers at once both may win.
 */
export function netlifyStore({ totalMs = 10_000, ...options }: NetlifyStoreOptions): StreamingStore {
  /** Opens the store for one call, so that the call has a time of its own and its failures are known. */
  const ask = async <T>(work: (blobs: Blobs) => Promise<T>): Promise<T> => {
    const { fetch, failure } = rememberingFetch(AbortSignal.timeout(totalMs));
    try {
      return await work(getStore({ ...options, consistency: "strong", fetch }));
    } catch (error) {
      const cause = failure() ?? (error as Error);
      throw new TwtxtError("store-failed", `Netlify Blobs failed: ${whyOf(cause)}.`, { cause });
    }
  };

  const put = (key: string, bytes: Uint8Array, condition?: Condition) =>
    ask(async (blobs) => {
      const { buffer } = Uint8Array.from(bytes);
      const { modified, etag } = await blobs.set(key, buffer, {
        ...(condition && ("isNew" in condition ? { onlyIfNew: true } : { onlyIfMatch: condition.etag })),
      });
      if (!modified) return null;
      // The client calls a conditional write done whatever is answered, but for a 412.
      if (!etag) throw new Error("the answer to a write has no etag");
      return etag;
    });

  return {
    async get(key) {
      checkKey(key);
      return ask(async (blobs) => {
        const found = await read(blobs, key);
        return found?.etag === "" ? readListed(blobs, key) : found;
      });
    },

    async put(key, bytes, condition) {
      checkKey(key);
      // The client takes an empty etag for no condition at all.
      if (condition && "etag" in condition && condition.etag === "") return null;
      return put(key, bytes, condition);
    },

    // A function is given a request as a whole and a value has few megabytes, so that nothing is gained by a stream.
    async write(key, chunks) {
      checkKey(key);
      await put(key, await joined(chunks));
    },

    async read(key, range) {
      checkKey(key);
      const found = await ask((blobs) => read(blobs, key));
      return found && streamOf(found.bytes, range);
    },

    async delete(key) {
      checkKey(key);
      await ask((blobs) => blobs.delete(key));
    },

    async keys(prefix) {
      checkPrefix(prefix);
      return ask(async (blobs) => {
        const found: string[] = [];
        for await (const page of blobs.list({ prefix, paginate: true })) {
          // The server of `netlify dev` also lists a key that the prefix starts with.
          found.push(...page.blobs.map(({ key }) => key).filter((key) => key.startsWith(prefix) && isKey(key)));
        }
        return found;
      });
    },
  };
}

/** @returns an empty etag where the server does not say one */
async function read(blobs: Blobs, key: string): Promise<Stored | null> {
  // The client's types leave out that there may be none.
  const found: { data: ArrayBuffer; etag?: string } | null = await blobs.getWithMetadata(key, { type: "arrayBuffer" });
  return found && { bytes: new Uint8Array(found.data), etag: found.etag ?? "" };
}

/**
 * The server of `netlify dev` tells etags in lists alone. The list comes first, so that a write in between makes the etag
 * too old, which a condition notices, and never too new.
 */
async function readListed(blobs: Blobs, key: string): Promise<Stored | null> {
  const { blobs: listed } = await blobs.list({ prefix: key });
  const etag = listed.find((blob) => blob.key === key)?.etag;
  const found = await read(blobs, key);
  if (found && !etag) throw new Error(`${key} has no etag`);
  return found && etag ? { ...found, etag } : null;
}

/**
 * Remembers why it has given up. The client by itself goes on for half a minute, and repeats even a conditional write that
 * may have happened.
 */
function rememberingFetch(signal: AbortSignal): { fetch: typeof globalThis.fetch; failure(): Error | null } {
  let failure: Error | null = null;
  return {
    failure: () => failure,
    async fetch(url, init) {
      try {
        return await patientFetch(url, { ...init, signal });
      } catch (error) {
        failure = error as Error;
        return new Response(null, { status: GIVEN_UP });
      }
    },
  };
}
