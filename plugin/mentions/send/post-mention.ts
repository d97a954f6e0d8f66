// plugin/mentions/send/post-mention.ts: tells one endpoint of one mention.
import { TwtxtError } from "../../errors.js";
import type { Ask, GuardedResponse } from "../../http/guard.js";
import { essenceOf } from "../../http/media-type.js";
import { oneLine, problemDetail } from "../../http/one-line.js";
import { parseRetryAfter } from "../../http/retry.js";

/** A reference to the twt, or the web page of its post. */
export type Form = "reference" | "page";

/** What is said to mention the target. */
export interface Source {
  form: Form;
  url: string;
}

/** What came of it. */
export type Answer =
  | { outcome: "sent"; source: Source; status: number }
  /** For good. `status` is null where it never answered. */
  | { outcome: "failed" | "not-asked"; source: Source; status: number | null; why: string }
  /** Worth another try, not before the moment that it has asked for, in milliseconds since 1970. */
  | { outcome: "unavailable"; source: Source; status: number | null; why: string; notBefore: number | null };

export interface Posting {
  endpoint: string;
  /** The mention's URL less its fragment. */
  target: string;
  /** The form that suits the endpoint, and then the other one, if there is another. */
  sources: readonly [Source, ...Source[]];
}

/** Of an answer no more than this is read, so that its connection can be used again. */
const ANSWER_BYTES = 64 * 1024;

/**
 * Posts a mention. A 4xx to one form is followed by one try of the other.
 *
 * @param now - milliseconds since 1970
 * @throws what `ask` throws, where that is no verdict on the endpoint
 * @see PROTOCOL 2.3
 */
export async function postMention(ask: Ask, posting: Posting, now: () => number): Promise<Answer> {
  const [first, second] = posting.sources;
  const answer = await post(ask, posting, first, now);
  const isRefused = answer.outcome === "failed" && answer.status !== null && answer.status >= 400;
  return second && isRefused ? post(ask, posting, second, now) : answer;
}

async function post(ask: Ask, { endpoint, target }: Posting, source: Source, now: () => number): Promise<Answer> {
  try {
    const response = await ask(endpoint, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ source: source.url, target }).toString(),
      maxBytes: ANSWER_BYTES,
    });
    return { source, ...verdictOf(response, await reasonOf(response), now()) };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return { source, status: null, ...verdictOfError(error) };
  }
}

type Verdict<T> = T extends Answer ? Omit<T, "source"> : never;

function verdictOf({ status, headers }: GuardedResponse, reason: string, now: number): Verdict<Answer> {
  if (status >= 200 && status < 300) return { outcome: "sent", status };
  const why = `it answers ${status}${reason === "" ? "" : `, "${reason}"`}`;
  if (status !== 429 && status < 500) return { outcome: "failed", status, why };
  const isToldWhen = status === 429 || status === 503;
  const notBefore = isToldWhen ? parseRetryAfter(headers["retry-after"], now) : null;
  return { outcome: "unavailable", status, why, notBefore };
}

/** @throws TwtxtError what is no verdict on an endpoint */
function verdictOfError(error: TwtxtError) {
  switch (error.code) {
    case "unreachable":
      return { outcome: "unavailable" as const, why: error.message, notBefore: null };
    case "address-refused":
      return { outcome: "not-asked" as const, why: error.message };
    case "too-many-redirects":
      return { outcome: "failed" as const, why: error.message };
    default:
      throw error;
  }
}

/**
 * What an endpoint says of its refusal, as one short line; empty where it says nothing for people. The status alone
 * decides, so an answer that breaks off or is too long is no trouble.
 */
async function reasonOf({ headers, body }: GuardedResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch {
    return "";
  }
  const text = Buffer.concat(chunks).toString();
  const type = essenceOf(headers["content-type"]);
  if (type === "application/problem+json") return problemDetail(text) ?? "";
  return type === "text/plain" ? oneLine(text) : "";
}
