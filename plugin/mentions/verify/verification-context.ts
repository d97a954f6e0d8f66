// plugin/mentions/verify/verification-context.ts: the context of one verification, and verdicts from status and content type.
import { STATUS_CODES } from "node:http";
import type { GuardedResponse } from "../../http/guard.js";
import type { TimeSlices } from "../../http/time-slices.js";
import type { Proof } from "../mention.js";
import type { SiteMatcher } from "./site-matcher.js";

const MAX_URL_LENGTH = 2048;

/** @throws TwtxtError as the guard does, and `blocked` for a blocked URL */
export type AskSource = (url: string, maxBytes: number, accept: string) => Promise<GuardedResponse>;

/** Everything that one verification needs. */
export interface VerificationContext {
  ask: AskSource;
  /**
   * Throws once the time or the requests of the verification are used up. Whatever was not requested then must not count as
   * missing, or a slow redirect could change the verdict.
   *
   * @throws TwtxtError `unreachable` or `too-many-redirects`
   */
  checkLimits(): void;
  site: SiteMatcher;
  /** With the deadline of the verification. */
  slices: TimeSlices;
  /**
   * Parses a page while no other verification does.
   *
   * @throws TwtxtError `unreachable` once the deadline has passed
   */
  readAlone<T>(work: () => Promise<T>): Promise<T>;
}

export type Disproof = Extract<Proof, { outcome: "disproven" }>;

/**
 * Judges an answer by its status and content type.
 *
 * @returns `null` if the body must be read; otherwise the body is closed
 * @see PROTOCOL 2.4, "The proof" and "The answer"
 */
export function verdictOnAnswer(answer: GuardedResponse): Exclude<Proof, { outcome: "proven" }> | null {
  const { status, url, headers } = answer;
  if (url.length > MAX_URL_LENGTH) {
    answer.close();
    const why = `The source's URL is longer than ${MAX_URL_LENGTH} characters.`;
    return disproven("bad-source", why, { isGone: false, identity: null });
  }
  const isGood = status >= 200 && status < 300;
  const isMedia = /^\s*(image|audio|video)\//i.test(headers["content-type"] ?? "");
  if (isGood && !isMedia) return null;

  answer.close();
  if (isGood) return disproven("bad-source", `${url} is not text.`, { isGone: false, identity: url });
  const why = `${url} answers ${`${status} ${STATUS_CODES[status] ?? ""}`.trim()}.`;
  if (status === 429 || status >= 500) return { outcome: "unreachable", why, isTimeout: false };
  return disproven("source-refused", why, { isGone: status === 404 || status === 410, identity: url });
}

/** Creates the result for a source that does not confirm the claim. */
export function disproven(
  code: Disproof["code"],
  why: string,
  { isGone, identity }: Pick<Disproof, "isGone" | "identity">,
): Disproof {
  return { outcome: "disproven", code, why, isGone, identity };
}
