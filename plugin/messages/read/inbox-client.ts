// plugin/messages/read/inbox-client.ts: reads and clears the author's own inbox.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Signer } from "../../http/signature.js";
import { siteApi } from "../../http/site-api.js";
import { canParseUrl } from "../../url.js";
import { type InboxMessage, isDeletion, itemsOf } from "./inbox-answer.js";
import { subscription } from "./inbox-stream.js";

/** All functions throw TwtxtError `unreachable`, and for a refusal `not-signed`, `not-allowed` or `not-found`. */
export interface InboxClient {
  /**
   * Lists messages, oldest first, with all their pages.
   *
   * @param after - the cursor of the last known message
   * @param etag - from an earlier request of this list
   * @returns `null` if nothing changed since `etag`
   * @throws TwtxtError `bad-message` for an invalid list, `too-large`, and `address-refused` for a link to another URL
   */
  list(options?: { after?: string; etag?: string }): Promise<MessageList | null>;
  /** @returns `false` if it was deleted before. @throws TwtxtError `not-found` for an unknown message */
  delete(id: string): Promise<boolean>;
  /**
   * Subscribes to messages after a cursor and reconnects until the signal is aborted. Each message is returned once.
   *
   * @returns `null` if the host offers no streams: poll the list instead
   * @throws TwtxtError as {@link InboxClient.list}, also during the stream; temporary failures are retried
   */
  subscribe(options: { after?: string; signal: AbortSignal }): Promise<AsyncIterable<InboxMessage> | null>;
}

export interface MessageList {
  messages: InboxMessage[];
  /** `null` if the list has several pages or the host sends none. */
  etag: string | null;
}

export interface InboxOptions {
  /** The URL of the inbox, without a slash at its end. */
  endpoint: string;
  /** The owner of the inbox. */
  signer: Signer;
  /** The platform's fetch, since this is the author's own site. */
  fetch: typeof globalThis.fetch;
  now: Clock;
  /** Resolves early when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Time limit of an answer, and of silence in a stream, in milliseconds; default 70,000. */
  timeoutMs?: number;
}

const MAX_PAGES = 1000;
/** The largest inbox that can be configured. */
const MAX_MESSAGES = 100_000;
const NEXT = /<([^<>]*)>[^,<>]*;\s*rel="?next"?\s*(?:[;,]|$)/;

/** The cursor of a message, for `after`. */
export function cursorOf({ created, id }: Pick<InboxMessage, "created" | "id">): string {
  return `${created}-${id}`;
}

/**
 * Creates a client of the author's own inbox. Others' inboxes are never read: on some brokers reading removes messages.
 *
 * @see PROTOCOL 3.4, 5
 */
export function inboxClient({ endpoint, signer, fetch, now, sleep, timeoutMs }: InboxOptions): InboxClient {
  const ask = siteApi({
    ...{ root: endpoint, signer, fetch, now },
    missing: "Has the site been deployed with functions?",
    ...(timeoutMs !== undefined && { idleTimeoutMs: timeoutMs }),
  });

  return {
    async list({ after, etag } = {}) {
      const headers: Record<string, string> = etag === undefined ? {} : { "if-none-match": etag };
      let path = pathAfter(after);
      let answer = await ask({ method: "GET", path, headers, expected: [304] });
      if (answer.status === 304) {
        answer.close();
        return null;
      }
      const messages = itemsOf(endpoint + path, await answer.text());
      const pages = new Set([path]);
      for (let next = nextPage(answer.headers, endpoint); next !== null; next = nextPage(answer.headers, endpoint)) {
        path = next;
        if (pages.has(path) || pages.size >= MAX_PAGES) throw refused(path, "the pages of this inbox form a loop");
        pages.add(path);
        answer = await ask({ method: "GET", path });
        for (const message of itemsOf(endpoint + path, await answer.text())) messages.push(message);
        if (messages.length > MAX_MESSAGES) throw refused(path, "it lists more messages than an inbox can have");
      }
      return { messages, etag: pages.size === 1 ? answer.headers.get("etag") : null };
    },

    async delete(id) {
      const answer = await ask({ method: "DELETE", path: `/${encodeURIComponent(id)}` });
      return isDeletion(await answer.text());
    },

    subscribe: ({ after, signal }) => subscription({ ask, inbox: endpoint, path: pathAfter(after), sleep, signal }),
  };
}

function pathAfter(after: string | undefined): string {
  return after === undefined ? "" : `?${new URLSearchParams({ after })}`;
}

/**
 * @returns the query of the next page; `null` for the last one
 * @throws TwtxtError `address-refused` for another URL: signed requests go only to this inbox
 */
function nextPage(headers: Headers, endpoint: string): string | null {
  const [, link] = NEXT.exec(headers.get("link") ?? "") ?? [];
  if (link === undefined) return null;
  const own = new URL(endpoint);
  const next = canParseUrl(link, endpoint) ? new URL(link, endpoint) : null;
  if (next?.origin === own.origin && next.pathname === own.pathname) return next.search;
  throw refused(endpoint, "its next page is at another URL");
}

function refused(url: string, why: string): TwtxtError {
  return new TwtxtError("address-refused", `Stopped reading ${url}: ${why}.`);
}
