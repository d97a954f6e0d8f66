// plugin/mentions/networks/network-json.ts: requests JSON of a network's server, within its rate limit.
import * as v from "valibot";
import { TwtxtError, type TwtxtErrorCode } from "../../errors.js";
import type { GuardedRequest, GuardedResponse } from "../../http/guard.js";
import { oneLine } from "../../http/one-line.js";
import { parseRetryAfter } from "../../http/retry.js";
import type { Answer, NetworkParts, Thread } from "./network.js";

const MAX_BYTES = 4 * 2 ** 20;
/** A server that counts requests is not asked for its last ones, which its other clients may need. */
const RESERVE = 5;
/** Twice those of the longest threads. An answer of empty objects needs fifty times its size in memory. */
const MAX_VALUES = 1_000_000;
export const REACTIONS_PER_PAGE = 80;
/** The newest likes, and the newest reposts, that are read. */
const MAX_REACTION_PAGES = 3;

/** A server's refusal, or an answer that cannot be read. */
export class NetworkError extends TwtxtError {
  constructor(
    code: TwtxtErrorCode,
    message: string,
    readonly status: number,
    /** When the server may be asked again, in milliseconds since 1970; `null` if it does not say. */
    readonly notBefore: number | null,
  ) {
    super(code, message);
  }

  /** Whether the server refuses the account, whatever it posts. */
  get isOfAccount(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** A server of a network, as one account or, without a token, as anyone sees it. */
export class NetworkServer {
  /** @param api - before each path, such as `https://mastodon.example`. @param token - a secret, which no other host gets */
  constructor(
    readonly api: string,
    readonly parts: NetworkParts,
    readonly token?: string,
  ) {}

  /**
   * Requests JSON.
   *
   * @throws NetworkError `source-refused` for a 4xx, `unreachable` for 429, 5xx and anything but the expected JSON; what the
   *   guard throws
   */
  async request<T>(
    path: string,
    schema: v.GenericSchema<unknown, T>,
    { headers, ...request }: Partial<GuardedRequest> = {},
  ): Promise<{ value: T; headers: GuardedResponse["headers"] }> {
    const authorization = this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
    const answer = await this.parts.ask(this.api + path, {
      maxBytes: MAX_BYTES,
      isHttpsNeeded: this.token !== undefined,
      ...request,
      headers: { accept: "application/json", ...headers, ...authorization },
    });
    const { bytes, trouble } = await answer.start();
    const { host } = new URL(this.api);
    const parse = <U>(as: v.GenericSchema<unknown, U>) =>
      v.safeParse(
        v.pipe(v.string(), v.check(hasFewValues, `more than ${MAX_VALUES} values`), v.parseJson(), as),
        bytes.toString(),
      );
    const fail = (code: TwtxtErrorCode, message: string) => {
      // A server may repeat the token, which would stand in logs, in the store and in its backups.
      const what = this.token === undefined ? message : message.replaceAll(this.token, "…");
      return new NetworkError(code, `${host} ${oneLine(what)}`, answer.status, readPause(answer, this.parts.now()));
    };
    if (answer.status < 200 || answer.status > 299) {
      const { success, output } = parse(Refusal);
      const why = success ? [output.error, output.message].filter((part) => part !== "").join(": ") : "";
      const code = answer.status === 429 || answer.status >= 500 ? "unreachable" : "source-refused";
      throw fail(code, `answers ${answer.status}${why && `, "${why}"`}.`);
    }
    if (trouble) throw trouble;
    const { success, output, issues } = parse(schema);
    if (success) return { value: output, headers: answer.headers };
    const where = v.getDotPath(issues[0]);
    throw fail("unreachable", `answers something else: ${where === null ? "" : `${where}: `}${issues[0].message}`);
  }

  /** Sends JSON, or a picture, over TLS alone. @throws as {@link request} */
  async send<T>(
    method: "POST" | "PUT",
    path: string,
    schema: v.GenericSchema<unknown, T>,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const content = body instanceof Uint8Array ? body : JSON.stringify(body);
    const sent = { "content-type": "application/json", ...headers };
    return (await this.request(path, schema, { method, isHttpsNeeded: true, body: content, headers: sent })).value;
  }
}

/** Commas in texts count, too. */
function hasFewValues(json: string): boolean {
  let count = 0;
  for (let i = 0; i < json.length; i += 1) if (",[{".includes(json.charAt(i))) count += 1;
  return count <= MAX_VALUES;
}

/** What both networks answer with an error. */
const Refusal = v.object({ error: v.optional(v.string(), ""), message: v.optional(v.string(), "") });

/** Handles a refusal of this status, or of any, as this value. Throws all other errors. */
export function ifRefused<T>(value: T, ...statuses: number[]): (error: unknown) => T {
  return (error) => {
    const isRefusal = error instanceof NetworkError && error.code === "source-refused";
    if (isRefusal && (statuses.length === 0 || statuses.includes(error.status))) return value;
    throw error;
  };
}

/** The valid items: one that is invalid is left out alone. */
export function selectValid<T>(schema: v.GenericSchema<unknown, T>, items: readonly unknown[]): T[] {
  return items.flatMap((item) => {
    const { success, output } = v.safeParse(schema, item);
    return success ? [output] : [];
  });
}

/** A page of likes or reposts. `next` is `null` for the last one. */
type ReactionPage = { found: Pick<Answer, "author" | "published">[]; next: string | null };

/**
 * Reads the newest likes and reposts of a copy, page by page.
 *
 * @param counts - how many there are, by the copy
 * @param read - gets the `next` of the page before, "" for the first one
 */
export async function readReactions(
  counts: Record<"like" | "repost", number>,
  read: (type: "like" | "repost", page: string) => Promise<ReactionPage>,
): Promise<{ reactions: Answer[]; hasAll: Omit<Thread["hasAll"], "reply"> }> {
  const reactions: Answer[] = [];
  const hasAll = { like: true, repost: true };
  for (const type of ["like", "repost"] as const) {
    let next = counts[type] > 0 ? "" : null;
    for (let count = 0; next !== null && count < MAX_REACTION_PAGES; count += 1) {
      const page: ReactionPage = await read(type, next);
      reactions.push(
        ...page.found.map((one) => ({ ...one, type, url: `${one.author.url}#${type}`, html: "", replyTo: null })),
      );
      next = page.next;
    }
    hasAll[type] = next === null;
  }
  return { reactions, hasAll };
}

/**
 * When a server may be asked again: by `Retry-After`, or when its limit is used up and counts anew.
 *
 * @returns milliseconds since 1970; `null` for at once
 * @see docs.joinmastodon.org/api/rate-limits (`X-RateLimit-Reset` is a date), docs.bsky.app/docs/advanced-guides/rate-limits
 *   (`ratelimit-reset` is in seconds since 1970)
 */
export function readPause({ status, headers }: GuardedResponse, now: number): number | null {
  const retryAfter = parseRetryAfter(headers["retry-after"], now);
  if (retryAfter !== null && status !== 200) return retryAfter;
  const read = (name: string) => headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`] ?? "";
  const remaining = read("remaining");
  const isUsedUp = status === 429 || (/^\d+$/.test(remaining) && Number(remaining) <= RESERVE);
  return isUsedUp ? readReset(read("reset"), now) : null;
}

/** @returns `null` for anything but a date, seconds since 1970, or seconds from now (draft-ietf-httpapi-ratelimit-headers) */
function readReset(text: string, now: number): number | null {
  if (!/^\d{1,10}$/.test(text)) return Date.parse(text) || null;
  return Number(text) > 1e9 ? Number(text) * 1000 : now + Number(text) * 1000;
}
