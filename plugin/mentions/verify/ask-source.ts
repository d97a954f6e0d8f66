// plugin/mentions/verify/ask-source.ts: a source's answer, before anybody looks at what it says.
import { STATUS_CODES } from "node:http";
import type { GuardedResponse } from "../../http/guard.js";
import type { TimeSlices } from "../../http/time-slices.js";
import type { Proof } from "../mention.js";
import type { SiteInText } from "./site-in-text.js";

const MAX_URL_LENGTH = 2048;

/** @throws TwtxtError as the guard does, and `blocked` for a URL that the author refuses */
export type AskSource = (url: string, maxBytes: number, accept: string) => Promise<GuardedResponse>;

/** What one verification works with. */
export interface Inspection {
  ask: AskSource;
  /**
   * Throws where the time or the requests of the verification are used up. What was then not asked says nothing: a stranger
   * who delays a redirect must not decide what is found out about its end.
   *
   * @throws TwtxtError `unreachable` or `too-many-redirects`
   */
  checkLimits(): void;
  site: SiteInText;
  /** With the deadline of the verification. */
  slices: TimeSlices;
  /**
   * Reads a page when no other verification reads one.
   *
   * @throws TwtxtError `unreachable` once the deadline has passed
   */
  whenAlone<T>(work: () => Promise<T>): Promise<T>;
}

export type Disproof = Extract<Proof, { outcome: "disproven" }>;

/**
 * What follows from an answer's status and type alone.
 *
 * @returns `null` for an answer that is worth reading; of any other one the body is let go
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
  if (isGood) return disproven("bad-source", `${url} is no text.`, { isGone: false, identity: url });
  const why = `${url} answers ${`${status} ${STATUS_CODES[status] ?? ""}`.trim()}.`;
  if (status === 429 || status >= 500) return { outcome: "unreachable", why, isTimeout: false };
  return disproven("source-refused", why, { isGone: status === 404 || status === 410, identity: url });
}

/** A source that does not say so. */
export function disproven(
  code: Disproof["code"],
  why: string,
  { isGone, identity }: Pick<Disproof, "isGone" | "identity">,
): Disproof {
  return { outcome: "disproven", code, why, isGone, identity };
}
