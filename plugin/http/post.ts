// plugin/http/post.ts: POST requests to the endpoints of other sites, and their results.
import type { Clock } from "../clock.js";
import { ifTwtxtError, type TwtxtError } from "../errors.js";
import type { Ask, GuardedRequest, GuardedResponse } from "./guard.js";
import { oneLine, readProblem } from "./one-line.js";
import { readEssence } from "./respond.js";
import { parseRetryAfter } from "./retry.js";

/** The result of a POST. `why` is half a sentence; `status` is null without a response. */
export type PostResult =
  | { outcome: "accepted"; status: number }
  /** Final: the endpoint refuses the request, or redirects in a loop. */
  | { outcome: "refused"; status: number | null; why: string }
  /** Final: the guard refuses this address. */
  | { outcome: "not-asked"; status: null; why: string }
  /** Temporary. `notBefore` is the earliest time to retry in milliseconds since 1970; `null` if the endpoint names none. */
  | { outcome: "unavailable"; status: number | null; why: string; notBefore: number | null };

export type Post = Pick<GuardedRequest, "headers" | "body" | "isHttpsNeeded">;

/** Maximum size of a response. */
const ANSWER_BYTES = 64 * 1024;

/**
 * Posts to an endpoint.
 *
 * @param now - milliseconds since 1970
 * @throws TwtxtError errors that are no result of the endpoint, such as `bad-compression`
 * @see PROTOCOL 2.3, 3.3
 */
export async function post(ask: Ask, endpoint: string, request: Post, now: Clock): Promise<PostResult> {
  const send = async (): Promise<PostResult> => {
    const response = await ask(endpoint, { method: "POST", ...request, maxBytes: ANSWER_BYTES });
    const { status, headers, bytes, close } = response;
    if (status < 200 || status > 299) return toRefusal(response, await readReason(response), now());
    // A short response is read so that its connection can be reused. Any other may never end.
    if (Number(headers["content-length"] ?? Number.NaN) <= ANSWER_BYTES) await bytes().catch(() => {});
    else close();
    return { outcome: "accepted", status };
  };
  return send().catch(ifTwtxtError(toResult));
}

function toRefusal({ status, headers }: GuardedResponse, reason: string, now: number): PostResult {
  const why = `it answers ${status}${reason === "" ? "" : `, "${reason}"`}`;
  if (status !== 429 && status < 500) return { outcome: "refused", status, why };
  const hasTime = status === 429 || status === 503;
  const notBefore = hasTime ? parseRetryAfter(headers["retry-after"], now) : null;
  return { outcome: "unavailable", status, why, notBefore };
}

/** @throws TwtxtError errors that are no result of the endpoint */
function toResult(error: TwtxtError): PostResult {
  const verdict = { status: null, why: error.message };
  switch (error.code) {
    case "unreachable":
      return { ...verdict, outcome: "unavailable", notBefore: null };
    case "address-refused":
      return { ...verdict, outcome: "not-asked" };
    case "too-many-redirects":
      return { ...verdict, outcome: "refused" };
    default:
      throw error;
  }
}

/** The endpoint's reason for a refusal, as one short line; empty if it cannot be read, since the status is enough. */
async function readReason({ headers, bytes }: GuardedResponse): Promise<string> {
  const text = await bytes().then(String, () => "");
  const isPlain = readEssence(headers["content-type"]) === "text/plain";
  return readProblem(text).detail ?? (isPlain ? oneLine(text) : "");
}
