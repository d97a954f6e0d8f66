// plugin/messages/read/inbox-client.ts: reads and clears the author's own inbox.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Signer } from "../../http/signature.js";
import { siteApi } from "../../http/site-api.js";
import { type InboxMessage, isDeletion, itemsOf } from "./inbox-answer.js";
import { subscription } from "./inbox-stream.js";

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
  now: Clock;
  /** Ends early, and without an error, where the signal says so. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** How long an answer may take, and a stream be silent, in milliseconds; default 70,000. */
  timeoutMs?: number;
}

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
export function inboxClient({ endpoint, signer, fetch, now, sleep, timeoutMs }: InboxOptions): InboxClient {
  const ask = siteApi({
    ...{ root: endpoint, signer, fetch, now },
    missing: "Has the site been deployed with functions?",
    ...(timeoutMs !== undefined && { patienceMs: timeoutMs }),
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
        if (pages.has(path) || pages.size >= MAX_PAGES) throw refused(path, "the pages of this inbox have no end");
        pages.add(path);
        answer = await ask({ method: "GET", path });
        for (const message of itemsOf(endpoint + path, await answer.text())) messages.push(message);
        if (messages.length > MAX_MESSAGES) throw refused(path, "it lists more messages than an inbox holds");
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
 * @throws TwtxtError `address-refused` for a page elsewhere: signed requests go to this inbox alone
 */
function nextPage(headers: Headers, endpoint: string): string | null {
  const [, link] = NEXT.exec(headers.get("link") ?? "") ?? [];
  if (link === undefined) return null;
  const own = new URL(endpoint);
  const next = URL.canParse(link, endpoint) ? new URL(link, endpoint) : null;
  if (next?.origin === own.origin && next.pathname === own.pathname) return next.search;
  throw refused(endpoint, "its next page is not of this inbox");
}

function refused(url: string, why: string): TwtxtError {
  return new TwtxtError("address-refused", `${url} is not asked any further: ${why}.`);
}
