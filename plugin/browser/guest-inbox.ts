// plugin/browser/guest-inbox.ts: the inbox of a reader at the author's site. PROTOCOL 3.4, 3.5
import { TwtxtError } from "../errors.js";
import { type Signer, signRequest } from "../http/sign-request.js";
import { type AskInbox, InboxClient, type InboxMessage } from "../messages/read/inbox-client.js";

const POLL_MS = 30_000;
const REQUEST_MS = 30_000;
/** `serve` sends a heartbeat every 15 seconds. */
const SILENCE_MS = 60_000;

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

/** The inbox of a reader. @param url - absolute */
export function openInbox(url: string, signer: Signer): InboxClient {
  return new InboxClient({ endpoint: url, ask: askWith(url, signer), sleep });
}

/**
 * Yields the stored messages and later ones until the signal is aborted. Some come more than once.
 *
 * Uses an event stream if the site has one. Otherwise asks again every half minute until the page is hidden.
 *
 * @throws TwtxtError for an answer that another attempt would not change: `not-signed` for a wrong clock
 */
export function followInbox(inbox: InboxClient, signal: AbortSignal): AsyncIterable<InboxMessage[]> {
  const wait = async () => {
    if (document.visibilityState !== "hidden") await sleep(POLL_MS, signal, [document, "visibilitychange"]);
    return document.visibilityState !== "hidden";
  };
  return inbox.follow({ signal, wait });
}

/** Sends signed requests with the platform's `fetch`. */
function askWith(inbox: string, signer: Signer): AskInbox {
  return async ({ method, path, headers = {}, expected = [], signal }) => {
    const url = inbox + path;
    const signed = signRequest({ method, url, headers }, signer, Date.now());
    const limit = signal ?? AbortSignal.timeout(REQUEST_MS);
    const request = { method, headers: signed, signal: limit, cache: "no-store", redirect: "error" } as const;
    const response = await fetch(url, request).catch(unreachable);
    const { status, ok, body } = response;
    const close = () => void body?.cancel().catch(() => {});
    if (ok || expected.includes(status)) {
      const text = () => response.text().catch(unreachable);
      return { status, headers: response.headers, chunks: () => readChunks(body), text, close };
    }
    close();
    if (status === 429 || status >= 500) return unreachable();
    throw new TwtxtError(status === 401 ? "not-signed" : "not-allowed", `The site answers ${status}.`);
  };
}

function unreachable(cause?: unknown): never {
  throw new TwtxtError("unreachable", "The site did not answer.", { cause });
}

/** Reads a stream, which not every browser can iterate over. Ends when nothing arrives: the connection may be lost. */
async function* readChunks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  const cancel = () => void reader.cancel().catch(() => {});
  const read = async () => {
    const timer = setTimeout(cancel, SILENCE_MS);
    return reader
      .read()
      .finally(() => clearTimeout(timer))
      .catch(unreachable);
  };
  try {
    for (let part = await read(); !part.done; part = await read()) yield part.value;
  } finally {
    cancel();
  }
}

/** Resolves after this time, when the signal is aborted, or at one of these events. */
export async function sleep(
  milliseconds: number,
  signal?: AbortSignal,
  ...others: readonly Happening[]
): Promise<void> {
  const time = AbortSignal.timeout(milliseconds);
  if (!signal?.aborted) await firstEvent([time, "abort"], [signal ?? time, "abort"], ...others);
}

/** @returns `false` if the signal was aborted before the page was visible */
export async function pageVisible(signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && document.visibilityState !== "visible") {
    await firstEvent([document, "visibilitychange"], [signal, "abort"]);
  }
  return !signal.aborted;
}

type Happening = readonly [target: EventTarget, name: string];

/** Resolves at the first of these events, and leaves no listener behind. */
function firstEvent(...events: readonly Happening[]): Promise<void> {
  const listening = new AbortController();
  return new Promise((resolve) => {
    const end = () => {
      listening.abort();
      resolve();
    };
    for (const [target, name] of events) target.addEventListener(name, end, { signal: listening.signal });
  });
}
