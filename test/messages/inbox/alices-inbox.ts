// test/messages/inbox/alices-inbox.ts: Alice's inbox with a reader and senders.
import { createHash } from "node:crypto";
import { signRequest } from "../../../plugin/http/sign-request.js";
import type { Identity } from "../../../plugin/keys/identity.js";
import { Inboxes, type InboxOptions } from "../../../plugin/messages/inbox/inboxes.js";
import type { InboxItem } from "../../../plugin/messages/inbox/list.js";
import { binHead } from "../../../plugin/messages/saltpack/msgpack.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { hostAt } from "../../helpers/endpoints.js";
import { identityOf } from "../../helpers/identity.js";
import vectors from "../../vectors/signcryption-go.json" with { type: "json" };

export const INBOX = "https://alice.example/inbox/alice";
export const SECOND = 1000;
export const DAY = 24 * 3600 * SECOND;

export const ALICE = identityOf(1);
export const CAROL = identityOf(2, "carol");
export const EVE = identityOf(3, "eve");

const good = vectors.signcryption.find(({ name }) => name === "go-one-recipient");
export const ARMORED = Buffer.from(good?.armored ?? "");
export const BINARY = Buffer.from(good?.ciphertext_hex ?? "", "hex");
/** The header, including the two-byte prefix of its MessagePack bin. */
const HEADER = BINARY.subarray(0, 2 + (BINARY[1] ?? 0));

/** A distinct message in canonical form for each number. Its box is filler, which only decryption detects. */
export function sealed(number: number, size = 300): Uint8Array {
  const room = size - HEADER.length - 2;
  const box = Buffer.alloc(room - binHead(room - 2).length, "box");
  box.writeUInt32BE(number);
  return Buffer.concat([HEADER, Buffer.from([0x92]), binHead(box.length), box, Buffer.from([0xc3])]);
}

/** The id of a binary message. */
export function idOf(binary: Uint8Array): string {
  return createHash("sha256").update(binary).digest("hex");
}

/** A clock that tests advance, and that wakes its sleepers. */
export function steppedClock() {
  const sleepers = new Set<{ until: number; wake: () => void }>();
  const clock = {
    time: Date.parse("2026-11-20T09:00:00Z"),
    sleepers,
    sleep: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          sleepers.delete(sleeper);
          resolve();
        };
        const sleeper = { until: clock.time + milliseconds, wake };
        if (signal.aborted) return resolve();
        sleepers.add(sleeper);
        signal.addEventListener("abort", wake);
      }),
    /** Advances the clock. */
    step(milliseconds: number) {
      clock.time += milliseconds;
      for (const { until, wake } of sleepers) if (until <= clock.time) wake();
    },
  };
  return clock;
}

/** A store that records what its listings ask for, and their limits: those of keys have none. */
export function watchedStore(inner: Store): Store & { listings: string[] } {
  const listings: string[] = [];
  return {
    ...inner,
    listings,
    keys(prefix) {
      listings.push(prefix);
      return inner.keys(prefix);
    },
    list(prefix, range) {
      listings.push(`${prefix} ${range.limit}`);
      return inner.list(prefix, range);
    },
  };
}

export interface RequestOptions {
  signer?: Identity | null;
  headers?: Record<string, string>;
  /** The time of the signature in Unix milliseconds. */
  signedAt?: number;
}

export type AlicesInbox = ReturnType<typeof alicesInbox>;

export function alicesInbox(options: Partial<InboxOptions> & { clock?: ReturnType<typeof steppedClock> } = {}) {
  const store = options.store ?? memoryStore();
  const clock = options.clock ?? steppedClock();
  const log: string[] = [];
  const { inboxUrl = (user: string) => `https://alice.example/inbox/${user}` } = options;
  const inbox = new Inboxes({
    now: () => clock.time,
    authority: "alice.example",
    inboxUrl,
    users: new Map([
      ["alice", ALICE.publicKey],
      ["carol", CAROL.publicKey],
    ]),
    limits: { messages: 1000, bytes: 64 * 1024 * 1024, retentionDays: null },
    guests: { authors: new Set([ALICE.publicKey, CAROL.publicKey]), messages: 100, days: 90, hasStreams: true },
    subscribe: { streamMs: 50 * SECOND, lookMs: 5 * SECOND, sleep: clock.sleep },
    ...options,
    store,
  });
  const urls = { inbox: inboxUrl("").replace(/\/$/, "") };
  const answer = hostAt("https://alice.example", inbox.handlers, (line) => void log.push(line), urls);

  const ask = (method: string, url = INBOX, { signer = ALICE, headers = {}, signedAt }: RequestOptions = {}) => {
    const signed = signer ? signRequest({ method, url, headers }, signer, signedAt ?? clock.time) : headers;
    return answer(new Request(url, { method, headers: signed }));
  };
  const send = (body: Uint8Array | string, { from = "192.0.2.1", method = "POST", headers = {}, url = INBOX } = {}) =>
    answer(new Request(url, { method, headers, body: Uint8Array.from(Buffer.from(body)) }), from);

  return {
    news: () => inbox.news(),
    sweep: (isOver: () => boolean, steadySince = 0) => inbox.sweep({ isOver, steadySince }),
    answer,
    store,
    clock,
    log,
    ask,
    send,
    /** Sends messages and throws unless each is accepted. */
    async receive(...bodies: Uint8Array[]) {
      for (const body of bodies) {
        const response = await send(body);
        if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
        clock.step(1);
      }
    },
    /** The items of one page. */
    async items(url = INBOX): Promise<InboxItem[]> {
      const response = await ask("GET", url);
      return Array.from(Object(await response.json()));
    },
    delete: async (id: string) => {
      const response = await ask("DELETE", `${INBOX}/${id}`);
      return { status: response.status, json: Object(await response.json()) };
    },
    /** The ids of the first page. */
    async ids(): Promise<string[]> {
      return (await this.items()).map(({ id }) => id);
    },
  };
}

/** The status and problem code of a response. */
export async function outcomeOf(response: Response): Promise<{ status: number; code: string | null }> {
  const isProblem = response.headers.get("content-type") === "application/problem+json";
  return { status: response.status, code: isProblem ? Object(await response.json()).code : null };
}
