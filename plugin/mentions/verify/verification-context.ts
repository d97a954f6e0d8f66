// plugin/mentions/verify/verification-context.ts: the context of one verification, and verdicts on answers.
import { STATUS_CODES } from "node:http";
import type { GuardedResponse } from "../../http/guard.js";
import type { TimeSlices } from "../../http/time-slices.js";
import type { Claim, Proof, ProvenMention } from "../mention.js";
import type { SiteIndex } from "../receive/site-index.js";
import { parseReference } from "../reference.js";

const MAX_URL_LENGTH = 2048;

export interface VerificationContext {
  /** @throws TwtxtError as the guard does, and `blocked` for a blocked URL */
  ask(url: string, maxBytes: number, accept: string): Promise<GuardedResponse>;
  /**
   * Throws if the verification has used up its time or its requests. A file that could not be requested must not count as
   * missing, or a slow redirect could change the verdict.
   *
   * @throws TwtxtError `unreachable` or `too-many-redirects`
   */
  checkLimits(): void;
  site: SiteMatcher;
  /** With the deadline of the verification. */
  slices: TimeSlices;
  /** Parses a page while no other verification does. @throws TwtxtError `unreachable` after the deadline */
  readAlone<T>(work: () => Promise<T>): Promise<T>;
}

export type SiteMatcher = ReturnType<typeof siteMatcher>;

/** A proven mention, with the data that identifies its source under another URL. */
export interface SourceMention {
  outcome: "proven";
  mention: ProvenMention;
  /** The URL that the source declares: a feed's `url` field, a page's `rel=canonical`; `null` for none. */
  declared: string | null;
  /** Equal for the same source: a twt's instant and text, or a page's text. */
  contents: string;
}

export type SourceResult = SourceMention | Exclude<Proof, { outcome: "proven" }>;

type Disproof = Extract<Proof, { outcome: "disproven" }>;

/** Recognizes URLs of the target and of this site's posts in a source. @see PROTOCOL 2.4, "The proof" */
export function siteMatcher({ target }: Claim, siteIndex: SiteIndex) {
  const findNamedPost = (url: string): string | null => {
    const found = siteIndex.target(url);
    if (found?.kind === "page") return siteIndex.isPost(found.url) ? found.url : null;
    return found && findFirst(parseTimestamps(url), (timestamp) => siteIndex.pageOfTwt(timestamp));
  };
  return {
    isTarget: (url: string): boolean => siteIndex.target(url)?.url === target.url,
    isOwn: (url: string): boolean => siteIndex.isOwn(url),
    /**
     * The page of this site's post that a source is about.
     *
     * @param subject - hash of the twt that it replies to; `null` for none
     * @param urls - URLs of posts, or references to twts, in the order of the source
     */
    postAbout: (subject: string | null, urls: readonly string[]): string | null =>
      (subject === null ? null : siteIndex.pageOfHash(subject)) ?? findFirst(urls, findNamedPost),
  };
}

function findFirst(values: readonly string[], find: (value: string) => string | null): string | null {
  for (const value of values) {
    const found = find(value);
    if (found !== null) return found;
  }
  return null;
}

/** @returns an empty list for a URL that does not name a single twt */
function parseTimestamps(url: string): string[] {
  try {
    return parseReference(url, "bad-target").timestamps;
  } catch {
    return [];
  }
}

/**
 * Judges an answer by its status and content type.
 *
 * @returns `null` if the body must be read; otherwise the body is closed
 * @see PROTOCOL 2.4, "The proof" and "The answer"
 */
export function verdictOnAnswer(answer: GuardedResponse): Exclude<Proof, { outcome: "proven" }> | null {
  const { status, url, headers } = answer;
  const isGood = status >= 200 && status < 300;
  const isMedia = /^\s*(image|audio|video)\//i.test(headers["content-type"] ?? "");
  const isTooLong = url.length > MAX_URL_LENGTH;
  if (isGood && !isMedia && !isTooLong) return null;

  answer.close();
  if (isTooLong) return disproven("bad-source", `The source's URL is longer than ${MAX_URL_LENGTH} characters.`);
  if (isGood) return disproven("bad-source", `${url} is not text.`, { identity: url });
  const why = `${url} answers ${`${status} ${STATUS_CODES[status] ?? ""}`.trim()}.`;
  if (status === 429 || status >= 500) return { outcome: "unreachable", why, isTimeout: false };
  return disproven("source-refused", why, { isGone: status === 404 || status === 410, identity: url });
}

/** The result for a source that names a URL of this site as its own: this site, by another name of its host, or a copy of it. */
export function ownCopy(): Exclude<Proof, { outcome: "proven" }> {
  return disproven("bad-source", "The source is a copy of this site.");
}

/** Creates the result for a source that does not confirm the claim. By default, a stored mention stays. */
export function disproven(
  code: Disproof["code"],
  why: string,
  found: Partial<Pick<Disproof, "isGone" | "identity">> = {},
): Disproof {
  return { outcome: "disproven", code, why, isGone: false, identity: null, ...found };
}
