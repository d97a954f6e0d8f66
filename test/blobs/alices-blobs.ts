// test/blobs/alices-blobs.ts: Alice's blob service, and requests to it from her and others.
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { Blobs, type BlobsOptions } from "../../plugin/blobs/serve/blobs.js";
import { signRequest, type UnsignedRequest } from "../../plugin/http/sign-request.js";
import type { Identity } from "../../plugin/keys/identity.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { Store, StreamingStore } from "../../plugin/store/store.js";
import { hostAt } from "../helpers/endpoints.js";
import { identityOf } from "../helpers/identity.js";

export const API = "https://alice.example/api/v1/blob";
export const SHARED = "https://alice.example/shared";
export const HOUR = 3600_000;
export const DAY = 24 * HOUR;

export const ALICE = identityOf(1);
/** The second owner of the site. */
export const CAROL = identityOf(2, "carol");
export const EVE = identityOf(3, "eve");

export interface RequestChanges {
  /** Default: Alice; `null` for an unsigned request. */
  signer?: Identity | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The Content-Length, by default the length of the body; `null` for none. */
  length?: string | null | undefined;
  /** Sent instead of `body`, which is still signed. */
  stream?: ReadableStream<Uint8Array>;
  /** Fields of the signed request that differ from the sent one. */
  signed?: Partial<UnsignedRequest>;
  /** The time of the signature, in milliseconds since 1970. */
  signedAt?: number;
}

/** A CDN that records the purged tags. */
export function cdn() {
  const purged: string[] = [];
  const state = {
    purged,
    isDown: false,
    purge: async (tag: string) => {
      purged.push(tag);
      if (state.isDown) throw new Error("The CDN is down.");
    },
  };
  return state;
}

/** The cache tag of a blob, as in PROTOCOL and Netlify's documentation. */
export function tagOf(owner: string, key: string): string {
  return `twtxt-blob-${sha256(`${owner}/${key}`).slice(0, 32)}`;
}

export type AlicesBlobs = ReturnType<typeof alicesBlobs>;

export function alicesBlobs(
  options: Partial<Omit<BlobsOptions, "store">> & { store?: StreamingStore; clock?: { time: number } } = {},
) {
  const store = options.store ?? memoryStore();
  const clock = options.clock ?? { time: Date.parse("2026-11-20T09:00:00Z") };
  const log: string[] = [];
  const slept: number[] = [];
  const service = new Blobs({
    now: () => clock.time,
    sleep: async (milliseconds) => void slept.push(milliseconds),
    authority: "alice.example",
    owners: new Set([ALICE.publicKey, CAROL.publicKey]),
    limits: { count: 1000, bytes: 2 ** 30, maxBytes: 2 ** 24 },
    sharedUrl: SHARED,
    purge: null,
    log: (line) => void log.push(line),
    ...options,
    store,
  });
  const respond = hostAt("https://alice.example", service.handlers, (line) => void log.push(line));

  /** A request that can be sent more than once. */
  const prepared = (method: string, url: string, changes: RequestChanges = {}) => {
    const { signer = ALICE, headers = {}, stream, length, signed, signedAt = clock.time } = changes;
    const body = changes.body === undefined ? undefined : Uint8Array.from(Buffer.from(changes.body));
    const request = { method, url, headers, ...(body && { body }), ...signed };
    const contentLength = length === undefined ? body && String(body.length) : length;
    const sent = {
      ...(signer ? signRequest(request, signer, signedAt) : headers),
      ...(typeof contentLength === "string" && { "content-length": contentLength }),
    };
    return () =>
      respond(
        new Request(url, {
          method,
          headers: sent,
          ...(body && { body }),
          ...(stream && { body: stream, duplex: "half" as const }),
        }),
      );
  };
  const send = (method: string, url: string, changes?: RequestChanges) => prepared(method, url, changes)();
  const one = (method: string) => (key: string, changes?: RequestChanges) => send(method, `${API}/${key}`, changes);

  return {
    respond,
    sweep: (isOver: () => boolean) => service.sweep(isOver),
    purgeAgain: (isOver: () => boolean) => service.purgeAgain(isOver),
    store,
    clock,
    log,
    slept,
    prepared,
    send,
    get: one("GET"),
    head: one("HEAD"),
    delete: one("DELETE"),
    put: (key: string, body: string | Uint8Array, headers: Record<string, string> = {}, changes: RequestChanges = {}) =>
      send("PUT", `${API}/${key}`, { ...changes, body, headers }),
    post: (key: string, value: unknown, headers: Record<string, string> = {}) =>
      send("POST", `${API}/${key}`, {
        body: JSON.stringify(value),
        headers: { "content-type": "application/json", ...headers },
      }),
    list: (query = "", changes?: RequestChanges) => send("GET", API + query, changes),
    getShared: (key: string, headers: Record<string, string> = {}, method = "GET") =>
      respond(new Request(`${SHARED}/${ALICE.publicKey}/${key}`, { method, headers })),
  };
}

/** The status and problem code of a response. */
export async function outcomeOf(response: Response): Promise<{ status: number; code: string | null }> {
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  return { status: response.status, code: isProblem ? (await jsonOf(response)).code : null };
}

/** The outcome as in the tables: `404 not-found`, or only the status. */
export async function outcomeText(response: Response): Promise<string> {
  const { status, code } = await outcomeOf(response);
  return code === null ? String(status) : `${status} ${code}`;
}

/** Fails unless a request is refused with a one-line message, and nothing is stored or logged. */
export async function expectRefusal(
  { store, log }: AlicesBlobs,
  send: () => Promise<Response>,
  status: number,
  code: string,
): Promise<void> {
  const before = await dump(store);
  const response = await send();
  expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/problem+json"]);
  const detail = expect.stringMatching(/^[^\x00-\x1f\u2028\u2029]{1,200}$/);
  expect(await response.json()).toEqual({ status, code, detail });
  expect(await dump(store)).toEqual(before);
  expect(log).toEqual([]);
}

export async function jsonOf(response: Response) {
  return Object(await response.json());
}

/** All values of a store as text, without the nonces. */
export async function dump(store: Store): Promise<Record<string, string>> {
  const keys = (await store.keys("")).filter((key) => !key.startsWith("nonces/")).sort();
  const texts = await Promise.all(keys.map((key) => textIn(store, key)));
  return Object.fromEntries(keys.map((key, at) => [key, texts[at] ?? ""]));
}

/** Each record with its contents as text, and all contents without a record. */
export async function storedBlobs(store: Store) {
  const unnamed = new Set(await store.keys("blobs/contents/"));
  const blobs = [];
  for (const name of (await store.keys("blobs/records/")).sort()) {
    const { write: _, nonces: __, contents, ...fields } = JSON.parse(await textIn(store, name));
    unnamed.delete(contents);
    blobs.push(contents === undefined ? fields : { ...fields, contents: await textIn(store, contents) });
  }
  return { blobs, leftovers: await Promise.all([...unnamed].map((name) => textIn(store, name))) };
}

async function textIn(store: Store, key: string): Promise<string> {
  return Buffer.from((await store.get(key))?.bytes ?? "").toString("latin1");
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The value of a Blob-Properties header. */
export function propertiesHeader(properties: unknown): string {
  return `:${Buffer.from(JSON.stringify(properties)).toString("base64")}:`;
}
