// plugin/host/site-data.ts: gives the site's owner all stored values, and takes them back: backup and restore over HTTP.
import { hash } from "node:crypto";
import * as v from "valibot";
import { openUpload } from "../blobs/serve/incoming.js";
import { mapInParallel } from "../concurrency.js";
import { TwtxtError } from "../errors.js";
import { noSuchRange, parseRange } from "../http/conditions.js";
import { NONCES, spendNonce } from "../http/nonces.js";
import { allowing, type HttpRequest, type HttpResponse, json, parseParameters, readBody } from "../http/respond.js";
import { later } from "../later.js";
import { ROUTES } from "../site/routes.js";
import {
  BATCH_BYTES,
  DataRequest,
  KEYS_PAGE,
  type KeysAnswer,
  MAX_REQUEST_BYTES,
  type ReadAnswer,
  SMALL_VALUE_BYTES,
} from "../site/stored-data.js";
import { hashValue } from "../store/copy.js";
import { isKey, parseEntry, type StoredValue, type StreamingStore } from "../store/store.js";
import type { Handlers } from "./endpoints.js";
import type { ServiceOptions } from "./service-options.js";

const signatures = later(() => import("../http/signature.js"));

const AT_ONCE = 16;
/** The largest blob that a site can be configured to accept. */
const MAX_VALUE_BYTES = 10_001 * 2 ** 20;

type Options = Pick<ServiceOptions, "settings" | "store" | "authority" | "now">;

/** The handlers of the routes below `/api/v1/site/data`. Only the first author may use them: values belong to all authors. */
export function siteDataHandlers(options: Options): Handlers {
  const { store } = options;
  return {
    storedKeys: allowing(ROUTES.storedKeys.methods, async (request) => {
      const signed = await verifyOwner(request, options);
      if (request.method === "GET") {
        await signed.checkBody(readBody(request, 0));
        return json(await listKeys(store, request.url));
      }
      const asked = parseRequest(await signed.checkBody(readBody(request, MAX_REQUEST_BYTES)));
      if ("write" in asked || "delete" in asked) await spend(signed, options);
      return json(await answerRequest(store, asked));
    }),
    storedValue: allowing(ROUTES.storedValue.methods, async (request, { params }) => {
      const signed = await verifyOwner(request, options);
      const key = params.rest ?? "";
      if (!isKey(key)) throw new TwtxtError("not-found", "There is no value here.");
      if (request.method === "PUT") {
        await spend(signed, options);
        return putLarge(store, key, request, signed.digest);
      }
      await signed.checkBody(readBody(request, 0));
      return getPart(store, key, request);
    }),
  };
}

type Signed = Awaited<ReturnType<typeof verifyOwner>>;

async function verifyOwner(request: HttpRequest, { settings, authority, now }: Options) {
  const { verifyHead } = await signatures();
  return verifyHead(request, { authority, allowed: new Set(settings.authors.slice(0, 1).map(({ key }) => key)), now });
}

/** Only for what changes data: a request that only reads leaves no trace in what it reads. */
async function spend({ nonce }: Signed, { store }: Options): Promise<void> {
  const { nonceUsed } = await signatures();
  if (!(await spendNonce(store, nonce))) throw nonceUsed();
}

async function listKeys(store: StreamingStore, url: string): Promise<KeysAnswer> {
  const { prefix = "", after } = parseParameters(url, ["prefix", "after"]);
  const page = await store.list(prefix, { limit: KEYS_PAGE, ...(after !== undefined && { after }) });
  const keys = page.filter((key) => !key.startsWith(NONCES));
  return { keys, next: page.length === KEYS_PAGE ? (page.at(-1) ?? null) : null };
}

const RequestJson = v.pipe(v.string(), v.parseJson(), DataRequest);

function parseRequest(body: Uint8Array): DataRequest {
  const { success, output } = v.safeParse(RequestJson, Buffer.from(body).toString());
  if (!success) {
    throw new TwtxtError("bad-request", "Send one of read, hash, write and delete, with at most 200 keys.");
  }
  const keys = Object.values(output)
    .flat()
    .map((each: string | { key: string }) => (typeof each === "string" ? each : each.key));
  const wrong = keys.find((key) => !isKey(key));
  if (wrong === undefined) return output;
  throw new TwtxtError("bad-request", `${JSON.stringify(wrong.slice(0, 80))} is not the key of a value.`);
}

async function answerRequest(store: StreamingStore, asked: DataRequest): Promise<object> {
  if ("read" in asked) return readValues(store, asked.read);
  if ("hash" in asked) {
    return { hashes: await mapInParallel(asked.hash, AT_ONCE, async (key) => hashValue(store, key)) };
  }
  if ("delete" in asked) {
    const keys = asked.delete.filter((key) => !key.startsWith(NONCES));
    await mapInParallel(keys, AT_ONCE, (key) => store.delete(key));
    return { deleted: keys.length };
  }
  // In order: a value that names others follows them.
  for (const value of asked.write) await writeValue(store, value);
  return { written: asked.write.length };
}

async function readValues(store: StreamingStore, keys: readonly string[]): Promise<ReadAnswer> {
  const values: ReadAnswer["values"] = [];
  let total = 0;
  for (let at = 0; at < keys.length && total < BATCH_BYTES; at += AT_ONCE) {
    for (const value of await mapInParallel(keys.slice(at, at + AT_ONCE), AT_ONCE, (key) => readSmall(store, key))) {
      if (value === null || !("bytes" in value)) {
        values.push(value);
        continue;
      }
      total += value.bytes.length;
      if (total > BATCH_BYTES) return { values };
      const { bytes, etag } = value;
      values.push({ etag, base64: Buffer.from(bytes).toString("base64"), sha256: hash("sha256", bytes) });
    }
  }
  return { values };
}

/** @returns only the size of a large value; `null` if there is none */
async function readSmall(store: StreamingStore, key: string): Promise<StoredValue | { size: number } | null> {
  // The key of a blob's contents has their size. Without this, those of a large blob would be held in memory.
  const size = parseEntry(key)?.number ?? 0;
  if (size > SMALL_VALUE_BYTES) return { size };
  const value = await store.get(key);
  return value && value.bytes.length > SMALL_VALUE_BYTES ? { size: value.bytes.length } : value;
}

type Written = Extract<DataRequest, { write: unknown }>["write"][number];

async function writeValue(store: StreamingStore, { key, base64, sha256: expected }: Written): Promise<void> {
  const bytes = Buffer.from(base64, "base64");
  if (hash("sha256", bytes) !== expected)
    throw new TwtxtError("bad-request", `The value of ${key} does not match its hash.`);
  await store.put(key, Uint8Array.from(bytes));
}

/** Answers with the part of a value that `Range` names, of at most 3 MiB. */
async function getPart(store: StreamingStore, key: string, request: HttpRequest): Promise<HttpResponse> {
  const value = await readSmall(store, key);
  if (value === null) throw new TwtxtError("not-found", "There is no value here.");
  const size = "bytes" in value ? value.bytes.length : value.size;
  const range = parseRange(request.headers.get("range"), size);
  if (range === "none" || (range === null && size > BATCH_BYTES)) return noSuchRange(size);
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const part = { first, last: Math.min(last, first + BATCH_BYTES - 1) };
  const body = "bytes" in value ? value.bytes.slice(part.first, part.last + 1) : await store.read(key, part);
  if (body === null) throw new TwtxtError("not-found", "There is no value here.");
  const length = { "content-length": String(part.last - part.first + 1) };
  const headers = { "content-type": "application/octet-stream", ...length };
  if (range === null) return { status: 200, headers, body };
  return { status: 206, headers: { ...headers, "content-range": `bytes ${part.first}-${part.last}/${size}` }, body };
}

/** Writes a large value under a new key. A value that exists is not replaced. */
async function putLarge(store: StreamingStore, key: string, request: HttpRequest, digest: string | null) {
  const { size, chunks } = await openUpload(request, { digest, maxBytes: MAX_VALUE_BYTES });
  await store.write(key, chunks, size);
  return json({ key, size }, { status: 201 });
}
