// plugin/browser/guest-inbox.ts: the inbox of a reader at the author's site. PROTOCOL 3.4, 3.5
import { base64 } from "@scure/base";
import { readEvents } from "../http/event-stream.js";
import { type Signer, signRequest } from "../http/sign-request.js";

const PAGE_SIZE = 100;
const MAX_PAGES = 20;
const POLL_MS = 30_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const REQUEST_MS = 30_000;
/** `serve` sends a heartbeat every 15 seconds. */
const SILENCE_MS = 60_000;
/** Limit of an event, in characters. */
const MAX_LENGTH = 200_000;

export interface SealedMessage {
  id: string;
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  created: string;
  payload: Uint8Array;
}

/** The author of a site, as its page names them. */
export interface Author {
  /** `user@domain` */
  address: string;
  /** `kex1...` */
  key: string;
  /** The URL of the author's discovery document. */
  document: string;
  /** The URL of the author's inbox. */
  inbox: string;
}

/** Why a message was not sent: a word of the form. */
export type NotSent = "otherKey" | "offline" | "busy" | "full" | "refused";

/**
 * Sends a message, unless the site names another key now than its page does.
 *
 * @returns when the site stored the message, by its clock
 */
export async function sendToAuthor({ key, document, inbox }: Author, sealed: string): Promise<Date | NotSent> {
  const signal = AbortSignal.timeout(REQUEST_MS);
  try {
    // A new URL each time: a service worker of the site may answer from a cache.
    const found = await fetch(`${document}?${Date.now()}`, { cache: "no-store", signal });
    if (!found.ok) return "offline";
    if (Object(await found.json()).key !== key) return "otherKey";
    const { ok, status, headers } = await fetch(inbox, { method: "POST", body: sealed, signal });
    const date = new Date(headers.get("date") ?? "");
    if (ok) return Number.isNaN(date.getTime()) ? new Date() : date;
    return status === 429 ? "busy" : status >= 500 ? "full" : "refused";
  } catch {
    return "offline";
  }
}

/** The site refused a request, and would refuse it again. */
export class RequestRefused extends Error {
  /** 401 for a signature whose time is wrong by the site's clock. */
  readonly status: number;

  constructor(status: number) {
    super(`The site answers ${status}.`);
    this.status = status;
  }
}

export class GuestInbox {
  readonly #url: string;
  readonly #signer: Signer;

  /** @param url - the absolute URL of the inbox */
  constructor(url: string, signer: Signer) {
    this.#url = url;
    this.#signer = signer;
  }

  /**
   * Yields the stored messages and later ones until the signal is aborted. Some come more than once.
   *
   * Uses an event stream if the site has one. Otherwise asks again every half minute until the page is hidden.
   *
   * @throws RequestRefused
   */
  async *follow(signal: AbortSignal): AsyncGenerator<SealedMessage> {
    let pause = FIRST_PAUSE_MS;
    let etag: string | null = null;
    let hasStreams = true;
    const visible = whileVisible(signal);
    while (!signal.aborted) {
      try {
        const stream: AsyncGenerator<SealedMessage> | null = hasStreams ? await this.#stream(signal) : null;
        if (stream) yield* stream;
        else {
          hasStreams = false;
          const list: MessageList | null = await this.#list(etag, signal);
          if (list) yield* list.messages;
          etag = list?.etag ?? etag;
          await sleep(POLL_MS, visible);
          if (visible.aborted) return;
        }
        pause = FIRST_PAUSE_MS;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof RequestRefused) throw error;
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
      await sleep(pause, signal);
    }
  }

  async delete(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask("DELETE", `/${id}`, {}, signal);
  }

  /** @returns `null` if the site has no event streams */
  async #stream(signal: AbortSignal): Promise<AsyncGenerator<SealedMessage> | null> {
    const response = await this.#ask("GET", "", { accept: "text/event-stream" }, signal);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      await response.body?.cancel();
      return null;
    }
    return readMessages(response);
  }

  /** @returns `null` if nothing has changed since `etag` */
  async #list(etag: string | null, signal: AbortSignal): Promise<MessageList | null> {
    const messages: SealedMessage[] = [];
    let first: string | null = null;
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const last = messages.at(-1);
      const query = new URLSearchParams({
        limit: String(PAGE_SIZE),
        ...(last && { after: `${last.created}-${last.id}` }),
      });
      const headers: Record<string, string> = page === 1 && etag !== null ? { "if-none-match": etag } : {};
      const limit = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]);
      const response = await this.#ask("GET", `?${query}`, headers, limit);
      if (response.status === 304) return null;
      if (page === 1) first = response.headers.get("etag");
      const items: unknown = await response.json();
      if (!Array.isArray(items)) throw new TypeError();
      messages.push(...items.map(parseItem));
      if (items.length < PAGE_SIZE) break;
    }
    return { messages, etag: first };
  }

  /** @throws RequestRefused; `TypeError` without an answer, or if the site may answer later */
  async #ask(method: string, path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const url = this.#url + path;
    const signed = signRequest({ method, url, headers }, this.#signer, Date.now());
    const response = await fetch(url, { method, headers: signed, signal, cache: "no-store", redirect: "error" });
    if (response.ok || response.status === 304 || response.status === 406) return response;
    if (response.status === 429 || response.status >= 500) throw new TypeError();
    throw new RequestRefused(response.status);
  }
}

interface MessageList {
  messages: SealedMessage[];
  etag: string | null;
}

async function* readMessages({ body }: Response): AsyncGenerator<SealedMessage> {
  if (!body) return;
  for await (const part of readEvents(readChunks(body), MAX_LENGTH)) {
    if (part.kind === "event" && part.name === "message") yield parseItem(JSON.parse(part.data));
  }
}

/** Reads a stream, which not every browser can iterate over. Ends when nothing arrives: the connection may be lost. */
async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  const read = async () => {
    const timer = setTimeout(cancel, SILENCE_MS);
    return reader.read().finally(() => clearTimeout(timer));
  };
  try {
    for (let part = await read(); !part.done; part = await read()) yield part.value;
  } finally {
    cancel();
  }
}

function parseItem(json: unknown): SealedMessage {
  const { id, created, payload } = Object(json);
  if (typeof id !== "string" || typeof created !== "string" || typeof payload !== "string") throw new TypeError();
  return { id, created, payload: base64.decode(payload) };
}

/** Resolves after this time, or when the signal is aborted. */
async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const time = AbortSignal.timeout(milliseconds);
  if (!signal.aborted) await firstEvent([time, "abort"], [signal, "abort"]);
}

/** @returns `false` if the signal was aborted before the page was visible */
export async function pageVisible(signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && document.visibilityState !== "visible") {
    await firstEvent([document, "visibilitychange"], [signal, "abort"]);
  }
  return !signal.aborted;
}

/** A signal that is aborted with this one, or when the page is hidden. */
function whileVisible(signal: AbortSignal): AbortSignal {
  const hidden = new AbortController();
  const ended = AbortSignal.any([signal, hidden.signal]);
  const note = () => {
    if (document.visibilityState === "hidden") hidden.abort();
  };
  document.addEventListener("visibilitychange", note, { signal: ended });
  return ended;
}

/** Resolves at the first of these events, and leaves no listener behind. */
function firstEvent(...events: readonly [EventTarget, string][]): Promise<void> {
  const listening = new AbortController();
  return new Promise((resolve) => {
    const end = () => {
      listening.abort();
      resolve();
    };
    for (const [target, name] of events) target.addEventListener(name, end, { signal: listening.signal });
  });
}
