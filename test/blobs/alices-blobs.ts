// test/blobs/alices-blobs.ts: Alice's blobs, her who keeps them, and those who would like to.
import { createHash, randomBytes } from "node:crypto";
import { Blobs, type BlobsOptions } from "../../plugin/blobs/serve/blobs.js";
import { signRequest, type UnsignedRequest } from "../../plugin/http/sign-request.js";
import type { Identity } from "../../plugin/keys/node-identity.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { Store, StreamingStore } from "../../plugin/store/store.js";
import { hostAt } from "../helpers/endpoints.js";
import { identityOf } from "../helpers/identity.js";

export const API = "https://alice.example/api/v1/blob";
export const SHARED = "https://alice.example/shared";
export const HOUR = 3600_000;
export const DAY = 24 * HOUR;

export const ALICE = identityOf(1);
/** May keep blobs beside Alice. */
export const CAROL = identityOf(2, "carol");
export const EVE = identityOf(3, "eve");

export interface Asked {
  /** Default Alice; `null` for nobody. */
  signer?: Identity | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** In place of the body's own length; `null` for none that is said. */
  length?: string | null | undefined;
  /** In place of the body, as it comes; `body` is still what is signed. */
  stream?: ReadableStream<Uint8Array>;
  /** What was signed, where it is not what is sent. */
  signed?: Partial<UnsignedRequest>;
  /** Milliseconds since 1970, when it was signed. */
  signedAt?: number;
}

/** A CDN that notes what it is to forget. */
export function cdn() {
  const told: string[] = [];
  const state = {
    told,
    isDown: false,
    purge: async (tag: string) => {
      told.push(tag);
      if (state.isDown) throw new Error("The CDN is down.");
    },
  };
  return state;
}

/** The tag of a blob's copies, as PROTOCOL and Netlify's documentation have it. */
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
    random: randomBytes,
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
  const answer = hostAt("https://alice.example", service.handlers, (line) => void log.push(line));

  /** A request that can be sent more than once. */
  const prepared = (method: string, url: string, asked: Asked = {}) => {
    const { signer = ALICE, headers = {}, stream, length, signed, signedAt = clock.time } = asked;
    const body = asked.body === undefined ? undefined : Uint8Array.from(Buffer.from(asked.body));
    const request = { method, url, headers, ...(body && { body }), ...signed };
    const said = length === undefined ? body && String(body.length) : length;
    const sent = {
      ...(signer ? signRequest(request, signer, signedAt) : headers),
      ...(typeof said === "string" && { "content-length": said }),
    };
    return () =>
      answer(
        new Request(url, {
          method,
          headers: sent,
          ...(body && { body }),
          ...(stream && { body: stream, duplex: "half" as const }),
        }),
      );
  };
  const ask = (method: string, url: string, asked?: Asked) => prepared(method, url, asked)();
  const one = (method: string) => (key: string, asked?: Asked) => ask(method, `${API}/${key}`, asked);

  return {
    answer,
    sweep: (isOver: () => boolean) => service.sweep(isOver),
    purgeAgain: (isOver: () => boolean) => service.purgeAgain(isOver),
    store,
    clock,
    log,
    slept,
    prepared,
    ask,
    get: one("GET"),
    head: one("HEAD"),
    delete: one("DELETE"),
    put: (key: string, body: string | Uint8Array, headers: Record<string, string> = {}, asked: Asked = {}) =>
      ask("PUT", `${API}/${key}`, { ...asked, body, headers }),
    post: (key: string, value: unknown, headers: Record<string, string> = {}) =>
      ask("POST", `${API}/${key}`, {
        body: JSON.stringify(value),
        headers: { "content-type": "application/json", ...headers },
      }),
    list: (query = "", asked?: Asked) => ask("GET", API + query, asked),
    getShared: (key: string, headers: Record<string, string> = {}, method = "GET") =>
      answer(new Request(`${SHARED}/${ALICE.publicKey}/${key}`, { method, headers })),
  };
}

/** What a program reads of an answer. */
export async function outcomeOf(response: Response): Promise<{ status: number; code: string | null }> {
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  return { status: response.status, code: isProblem ? (await jsonOf(response)).code : null };
}

/** As it is written in a table: `404 not-found`, or the status alone. */
export async function shortly(response: Response): Promise<string> {
  const { status, code } = await outcomeOf(response);
  return code === null ? String(status) : `${status} ${code}`;
}

export async function jsonOf(response: Response) {
  return Object(await response.json());
}

/** Everything in a store but the nonces, by key, as text. */
export async function dump(store: Store): Promise<Record<string, string>> {
  const keys = (await store.keys("")).filter((key) => !key.startsWith("nonces/")).sort();
  const texts = await Promise.all(keys.map((key) => textIn(store, key)));
  return Object.fromEntries(keys.map((key, at) => [key, texts[at] ?? ""]));
}

/** Each record with the contents that it names as text, and all contents that none names. */
export async function kept(store: Store) {
  const unnamed = new Set(await store.keys("blobs/contents/"));
  const blobs = [];
  for (const name of (await store.keys("blobs/records/")).sort()) {
    const { write: _, nonces: __, contents, ...said } = JSON.parse(await textIn(store, name));
    unnamed.delete(contents);
    blobs.push(contents === undefined ? said : { ...said, contents: await textIn(store, contents) });
  }
  return { blobs, leftovers: await Promise.all([...unnamed].map((name) => textIn(store, name))) };
}

async function textIn(store: Store, key: string): Promise<string> {
  return Buffer.from((await store.get(key))?.bytes ?? "").toString("latin1");
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A header's value that holds properties. */
export function propertiesHeader(properties: unknown): string {
  return `:${Buffer.from(JSON.stringify(properties)).toString("base64")}:`;
}
