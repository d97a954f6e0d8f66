// plugin/mentions/networks/network-json.ts: requests JSON of a network's server, within its rate limit.
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import type { GuardedRequest, GuardedResponse } from "../../http/guard.js";
import { oneLine } from "../../http/one-line.js";
import { parseRetryAfter } from "../../http/retry.js";
import { NetworkError, type NetworkParts } from "./network.js";

const MAX_BYTES = 4 * 2 ** 20;
/** A server that counts requests is not asked for its last ones, which its other clients may need. */
const RESERVE = 5;

export interface NetworkAnswer<T> {
  value: T;
  headers: GuardedResponse["headers"];
  /** When the server may be asked again, in milliseconds since 1970; `null` for at once. */
  notBefore: number | null;
}

export interface NetworkRequest extends Partial<Omit<GuardedRequest, "checkUrl">> {
  /** A secret, which no other host gets. */
  token?: string | undefined;
}

/**
 * Requests JSON.
 *
 * @throws NetworkError `source-refused` for a 4xx, `unreachable` for 429, 5xx and anything but the expected JSON; what the
 *   guard throws
 */
export async function requestJson<T>(
  url: string,
  schema: v.GenericSchema<unknown, T>,
  { token, headers, ...request }: NetworkRequest,
  { ask, now }: NetworkParts,
): Promise<NetworkAnswer<T>> {
  const { host } = new URL(url);
  const checkUrl = (asked: string) => {
    if (new URL(asked).host !== host) throw new TwtxtError("address-refused", `${host} redirects to another host.`);
  };
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await ask(url, {
    maxBytes: MAX_BYTES,
    ...request,
    headers: { accept: "application/json", ...headers, ...authorization },
    ...(token !== undefined && { checkUrl, isHttpsNeeded: true }),
  });
  const { text, trouble } = await answer.start().then(({ bytes, trouble }) => ({ text: bytes.toString(), trouble }));
  const notBefore = readPause(answer, now());
  if (answer.status < 200 || answer.status > 299) throw toRefusal(answer, text, host, notBefore);
  if (trouble) throw trouble;
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (result.success) return { value: result.output, headers: answer.headers, notBefore };
  const [{ message }] = result.issues;
  const where = v.getDotPath(result.issues[0]);
  const what = oneLine(`${where === null ? "" : `${where}: `}${message}`);
  throw new NetworkError("unreachable", `${host} answers something else: ${what}`, answer.status, notBefore);
}

function toRefusal({ status }: GuardedResponse, text: string, host: string, notBefore: number | null): NetworkError {
  const json = v.safeParse(v.pipe(v.string(), v.parseJson(), REFUSAL), text);
  const { error = "", message = "" } = json.success ? json.output : {};
  const why = oneLine([error, message].filter((part) => part !== "").join(": "));
  const code = status === 429 || status >= 500 ? "unreachable" : "source-refused";
  return new NetworkError(code, `${host} answers ${status}${why && `, "${why}"`}.`, status, notBefore);
}

/** What both networks answer with an error. */
const REFUSAL = v.object({ error: v.exactOptional(v.string()), message: v.exactOptional(v.string()) });

/**
 * When a server may be asked again: by `Retry-After`, or when its limit is used up and counts anew.
 *
 * @see docs.joinmastodon.org/api/rate-limits (`X-RateLimit-Reset` is a date), docs.bsky.app/docs/advanced-guides/rate-limits
 *   (`ratelimit-reset` is in seconds since 1970)
 */
export function readPause(
  { status, headers }: Pick<GuardedResponse, "status" | "headers">,
  now: number,
): number | null {
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
