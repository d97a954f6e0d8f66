// plugin/messages/read/inbox-client.ts: reads, follows and clears an inbox of one's own, on Node.js and in browsers.
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { readEvents } from "../../http/event-stream.js";
import { canParseUrl } from "../../url.js";

export interface InboxMessage {
  /** SHA-256 of its canonical form, in lower-case hex. */
  id: string;
  /** When it arrived, `YYYY-MM-DDThh:mm:ss.sssZ`. */
  created: string;
  /** The body as received, armored or binary. */
  payload: Uint8Array;
}

interface MessageList {
  messages: InboxMessage[];
  /** `null` if the list has several pages or the host sends none. */
  etag: string | null;
}

interface InboxAnswer {
  status: number;
  headers: Headers;
  chunks(): AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  /** Closes the connection of a body that is not read to its end. */
  close(): void;
}

/** Sends a request that the owner of the inbox has signed. Statuses other than 200 to 299 and `expected` are errors. */
export type AskInbox = (request: {
  method: "GET" | "DELETE";
  /** Below the URL of the inbox. */
  path: string;
  headers?: Record<string, string>;
  expected?: readonly number[];
  signal?: AbortSignal;
}) => Promise<InboxAnswer>;

interface InboxClientOptions {
  /** The URL of the inbox, without a slash at its end. */
  endpoint: string;
  ask: AskInbox;
  /** Resolves early when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const ID = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const MAX_PAGES = 1000;
/** The largest inbox that can be configured. */
const MAX_MESSAGES = 100_000;
const NEXT = /<([^<>]*)>[^,<>]*;\s*rel="?next"?\s*(?:[;,]|$)/;

/** Limit of an event, in characters. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** The shortest pause before reconnecting. */
const PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** The cursor of a message, for `after`. */
export function toCursor({ created, id }: Pick<InboxMessage, "created" | "id">): string {
  return `${created}-${id}`;
}

/**
 * Client of one's own inbox. Others' inboxes are never read: on some brokers reading removes messages. All methods throw
 * TwtxtError `unreachable`, and for a refusal `not-signed`, `not-allowed` or `not-found`.
 *
 * @see PROTOCOL 3.4, 5
 */
export class InboxClient {
  constructor(private readonly options: InboxClientOptions) {}

  /**
   * Lists messages, oldest first, with all their pages.
   *
   * @param options - `after`: the cursor of the last known message; `etag`: from an earlier request of this list
   * @returns `null` if nothing changed since `etag`
   * @throws TwtxtError `bad-message` for an invalid list, `too-large`, and `address-refused` for a link to another URL
   */
  async list({ after, etag }: { after?: string | undefined; etag?: string | null } = {}): Promise<MessageList | null> {
    const messages: InboxMessage[] = [];
    const etags: (string | null)[] = [];
    for await (const page of this.#pages(pathAfter(after), etag)) {
      if (page === null) return null;
      messages.push(...page.messages);
      etags.push(page.etag);
    }
    return { messages, etag: etags.length === 1 ? (etags[0] ?? null) : null };
  }

  /**
   * Lists messages in pages, newest first. The next page is requested when it is wanted.
   *
   * @param limit - messages of a page, at most 100
   * @throws TwtxtError as {@link InboxClient.list}
   */
  async *newestFirst(limit: number): AsyncGenerator<InboxMessage[]> {
    const query = new URLSearchParams({ order: "newest", limit: String(limit) });
    for await (const page of this.#pages(`?${query}`)) if (page) yield page.messages;
  }

  /**
   * The messages whose ids start with a text. A host that cannot search lists all, page by page.
   *
   * @throws TwtxtError as {@link InboxClient.list}
   */
  async find(prefix: string): Promise<InboxMessage[]> {
    const found: InboxMessage[] = [];
    for await (const page of this.#pages(`?${new URLSearchParams({ id: prefix })}`)) {
      found.push(...(page?.messages ?? []).filter(({ id }) => id.startsWith(prefix)));
    }
    return found;
  }

  /** @returns `null` instead of the first page if nothing changed since `etag` */
  async *#pages(first: string, etag: string | null = null): AsyncGenerator<MessageList | null> {
    const paths = new Set<string>();
    let count = 0;
    for (let path: string | null = first; path !== null; ) {
      if (paths.has(path) || paths.size >= MAX_PAGES)
        throw refused(this.options.endpoint + path, "the pages of this inbox form a loop");
      const headers: Record<string, string> = etag === null || paths.size > 0 ? {} : { "if-none-match": etag };
      paths.add(path);
      const answer: InboxAnswer = await this.options.ask({ method: "GET", path, headers, expected: [304] });
      if (answer.status === 304) {
        answer.close();
        yield null;
        return;
      }
      const messages: InboxMessage[] = this.#parse(await answer.text(), (json) => (json as unknown[]).map(parseItem));
      count += messages.length;
      if (count > MAX_MESSAGES)
        throw refused(this.options.endpoint + path, "it lists more messages than an inbox can have");
      yield { messages, etag: answer.headers.get("etag") };
      path = this.#nextPage(answer);
    }
  }

  /** @returns `false` if it was deleted before. @throws TwtxtError `not-found` for an unknown message */
  async delete(id: string): Promise<boolean> {
    const answer = await this.options.ask({ method: "DELETE", path: `/${encodeURIComponent(id)}` });
    return !/^\s*\{\s*"deleted"\s*:\s*false\b/.test(await answer.text());
  }

  /**
   * Yields the messages after a cursor, and those that arrive, until the signal is aborted: from a stream, or from the list if
   * the host offers none. Some come more than once. Temporary failures are retried, after longer and longer pauses.
   *
   * @throws TwtxtError as {@link InboxClient.list}
   */
  async *follow({ after = () => undefined, signal, wait }: Following): AsyncGenerator<InboxMessage[]> {
    const stream = { lastId: "", pause: PAUSE_MS };
    let hasStreams = true;
    let last: { after?: string | undefined; etag: string | null } = { etag: null };
    for (let failures = 0; !signal.aborted; ) {
      try {
        const connection: Connection | null = hasStreams ? await this.#connect(after(), stream.lastId, signal) : null;
        hasStreams = connection !== null;
        if (connection) {
          failures = 0;
          for await (const message of this.#receive(connection, stream)) yield [message];
        } else {
          const cursor = after();
          const list = await this.list({ after: cursor, etag: cursor === last.after ? last.etag : null });
          failures = 0;
          if (list) last = { after: cursor, etag: list.etag };
          yield list?.messages ?? [];
          if (await wait()) continue;
          return;
        }
      } catch (error) {
        if (signal.aborted) return;
        throwIfPermanent(error);
        failures += 1;
      }
      await this.options.sleep(Math.min(stream.pause * 2 ** failures, LONGEST_PAUSE_MS), signal);
    }
  }

  /** @param stream - the place and the pause for the next connection, which are updated */
  async *#receive(connection: Connection, stream: { lastId: string; pause: number }): AsyncGenerator<InboxMessage> {
    for await (const part of readEvents(connection, MAX_LENGTH)) {
      if (part.kind === "retry") stream.pause = Math.max(part.milliseconds, PAUSE_MS);
      if (part.kind === "retry" || part.name !== "message") continue;
      stream.lastId = part.id;
      yield this.#parse(part.data, parseItem);
    }
  }

  /** @returns `null` if the host offers no streams */
  async #connect(after: string | undefined, lastId: string, signal: AbortSignal): Promise<Connection | null> {
    const headers = { accept: "text/event-stream", ...(lastId !== "" && { "last-event-id": lastId }) };
    const answer = await this.options.ask({ method: "GET", path: pathAfter(after), headers, expected: [406], signal });
    if (/^text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "")) return answer.chunks();
    answer.close();
    return null;
  }

  /** @throws TwtxtError `bad-message` */
  #parse<T>(text: string, read: (json: unknown) => T): T {
    try {
      return read(JSON.parse(text));
    } catch (cause) {
      const message = `${this.options.endpoint} did not answer with sealed messages. Check that it is the URL of an inbox.`;
      throw new TwtxtError("bad-message", message, { cause });
    }
  }

  /**
   * @returns the query of the next page; `null` for the last one
   * @throws TwtxtError `address-refused` for another URL: signed requests go only to this inbox
   */
  #nextPage({ headers }: InboxAnswer): string | null {
    const [, link] = NEXT.exec(headers.get("link") ?? "") ?? [];
    if (link === undefined) return null;
    const own = new URL(this.options.endpoint);
    const next = canParseUrl(link, own.href) ? new URL(link, own) : null;
    if (next?.origin === own.origin && next.pathname === own.pathname) return next.search;
    throw refused(this.options.endpoint, "its next page is at another URL");
  }
}

type Connection = AsyncIterable<Uint8Array>;

interface Following {
  /** The cursor of a message before which no other can still appear; none for all messages. */
  after?(): string | undefined;
  signal: AbortSignal;
  /** Waits until the list is to be read again. @returns `false` to end */
  wait(): Promise<boolean>;
}

function pathAfter(after: string | undefined): string {
  return after === undefined ? "" : `?${new URLSearchParams({ after })}`;
}

/** @throws for anything but a message */
function parseItem(json: unknown): InboxMessage {
  const { id, created, payload } = Object(json);
  const isNamed = ID.test(id) && TIME.test(created) && !Number.isNaN(Date.parse(created));
  const bytes = atob(payload);
  if (!isNamed || btoa(bytes) !== payload) throw new TypeError("This is not a message.");
  return { id, created, payload: Uint8Array.from(bytes, (character) => character.charCodeAt(0)) };
}

const throwIfPermanent = ifTwtxtError(() => {}, "unreachable");

function refused(url: string, why: string): TwtxtError {
  return new TwtxtError("address-refused", `Stopped reading ${url}: ${why}.`);
}
