// plugin/messages/read/inbox-client.ts: reads and clears one's own inbox, by signed requests.
import { TwtxtError } from "../../errors.js";
import { type Signer, signRequest } from "../../http/signature.js";
import { siteUnreachable } from "../../http/unreachable.js";
import { type InboxMessage, isDeletion, itemsOf, refusal, textOf } from "./inbox-answer.js";
import { type AskInbox, subscription } from "./inbox-stream.js";

/** All functions throw TwtxtError `unreachable`, and for a refusal `not-signed`, `not-allowed` or `not-found`. */
export interface InboxClient {
  /**
   * Lists messages, oldest first, with all their pages.
   *
   * @param after - the cursor of the last message that is known
   * @param etag - of the same list, asked for earlier
   * @returns `null` where nothing has changed since `etag`
   * @throws TwtxtError `bad-message` for what is no list, `too-large`, and `address-refused` where it leads elsewhere
   */
  list(options?: { after?: string; etag?: string }): Promise<MessageList | null>;
  /** @returns `false` where it was deleted before. @throws TwtxtError `not-found` for a message that never was */
  delete(id: string): Promise<boolean>;
  /**
   * Subscribes to messages after a cursor, and connects again and again until the signal is aborted. A message comes once.
   *
   * @returns `null` where the host offers no streams: list it every now and then
   * @throws TwtxtError as {@link InboxClient.list}, also in the midst of the stream; what may pass is tried again
   */
  subscribe(options: { after?: string; signal: AbortSignal }): Promise<AsyncIterable<InboxMessage> | null>;
}

export interface MessageList {
  messages: InboxMessage[];
  /** `null` where the list has more than one page, or the host gives none. */
  etag: string | null;
}

export interface InboxOptions {
  /** The URL of the inbox, without a slash at its end. */
  endpoint: string;
  /** Whose inbox it is. */
  signer: Signer;
  /** The platform's: this is the author's own site, and not a stranger. */
  fetch: typeof globalThis.fetch;
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends early, and without an error, where the signal says so. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** How long an answer may take, and a stream be silent, in milliseconds; default 70,000. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 70_000;
const MAX_PAGES = 1000;
/** No inbox of ours may be set up to hold more. */
const MAX_MESSAGES = 100_000;
const NEXT = /<([^<>]*)>[^,<>]*;\s*rel="?next"?\s*(?:[;,]|$)/;

/** The place of a message in its inbox, for `after`. */
export function cursorOf({ created, id }: Pick<InboxMessage, "created" | "id">): string {
  return `${created}-${id}`;
}

/**
 * A client of one's own inbox. Nobody else's is ever read: on some brokers that takes a message away.
 *
 * @see PROTOCOL 3.4, 5
 */
export function inboxClient({
  endpoint,
  signer,
  fetch,
  now,
  sleep,
  timeoutMs = TIMEOUT_MS,
}: InboxOptions): InboxClient {
  const ask: AskInbox = async (method, url, headers, signal) => {
    const signed = signRequest({ method, url, headers }, signer, now());
    try {
      return await fetch(url, { method, headers: signed, redirect: "error", signal });
    } catch (cause) {
      throw siteUnreachable(url, cause);
    }
  };
  const exchange = async (method: "GET" | "DELETE", url: string, headers: Record<string, string> = {}) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await ask(method, url, headers, signal);
    const text = await textOf(response, signal).catch((error: unknown) => {
      throw error instanceof TwtxtError ? error : siteUnreachable(url, error);
    });
    if (!response.ok && response.status !== 304) throw refusal(url, response.status, text);
    return { status: response.status, headers: response.headers, text };
  };

  return {
    async list({ after, etag } = {}) {
      const first = pageUrl(endpoint, after);
      let answer = await exchange("GET", first, etag === undefined ? {} : { "if-none-match": etag });
      if (answer.status === 304) return null;
      const messages = itemsOf(first, answer.text);
      const pages = new Set([first]);
      for (let next = nextPage(answer.headers, endpoint); next !== null; next = nextPage(answer.headers, endpoint)) {
        if (pages.has(next) || pages.size >= MAX_PAGES) throw refused(next, "the pages of this inbox have no end");
        pages.add(next);
        answer = await exchange("GET", next);
        for (const message of itemsOf(next, answer.text)) messages.push(message);
        if (messages.length > MAX_MESSAGES) throw refused(next, "it lists more messages than an inbox holds");
      }
      return { messages, etag: pages.size === 1 ? answer.headers.get("etag") : null };
    },

    async delete(id) {
      const url = new URL(endpoint);
      url.pathname += `/${encodeURIComponent(id)}`;
      const { text } = await exchange("DELETE", url.href);
      return isDeletion(text);
    },

    subscribe: ({ after, signal }) => subscription({ url: pageUrl(endpoint, after), ask, sleep, signal, timeoutMs }),
  };
}

function pageUrl(endpoint: string, after: string | undefined): string {
  const url = new URL(endpoint);
  if (after !== undefined) url.searchParams.set("after", after);
  return url.href;
}

/** @throws TwtxtError `address-refused` for a page that is none of this inbox: a signed request goes nowhere else */
function nextPage(headers: Headers, endpoint: string): string | null {
  const [, link] = NEXT.exec(headers.get("link") ?? "") ?? [];
  if (link === undefined) return null;
  const own = new URL(endpoint);
  const next = URL.canParse(link, endpoint) ? new URL(link, endpoint) : null;
  if (next?.origin === own.origin && next.pathname === own.pathname) return next.href;
  throw refused(endpoint, "its next page is not of this inbox");
}

function refused(url: string, why: string): TwtxtError {
  return new TwtxtError("address-refused", `${url} is not asked any further: ${why}.`);
}
