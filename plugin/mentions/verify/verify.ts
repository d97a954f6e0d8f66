// plugin/mentions/verify/verify.ts: verifies a claim at its source.
import { serialize } from "../../concurrency.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { type Ask, isTimeout } from "../../http/guard.js";
import { comparableUrl, isSameUrl, withoutQuery } from "../../http/same-url.js";
import { TimeSlices } from "../../http/time-slices.js";
import { isSameHost } from "../../url.js";
import type { Claim, Proof, ProvenMention, Verify } from "../mention.js";
import type { Moderation } from "../receive/moderation.js";
import type { SiteIndex } from "../receive/site-index.js";
import { withHtml } from "./source-text.js";
import {
  disproven,
  type SourceMention,
  type SourceResult,
  siteMatcher,
  type VerificationContext,
} from "./verification-context.js";
import { verifyTwt } from "./verify-feed.js";
import { verifyPage } from "./verify-page.js";

/** Per verification: ten parts of a feed, the same under its own URL, and some redirects. */
const MAX_REQUESTS = 30;
/** Time limit of one verification, archives included. */
const TOTAL_MS = 10_000;

interface VerificationParts {
  ask: Ask;
  siteIndex: SiteIndex;
  moderation: Pick<Moderation, "isBlocked">;
}

/** Creates the function that verifies claims. @see PROTOCOL 2.4, "The proof" */
export function createVerify(parts: VerificationParts): Verify {
  const { siteIndex } = parts;
  const pages = new PageQueue();
  return async (claim) => {
    const context = createContext(claim, parts, pages);
    const verify = async (): Promise<Proof> => {
      const seen = await checkSource(claim, context);
      if (seen.outcome !== "proven") return seen;
      const mention = await resolveIdentity(seen, claim, context);
      if (siteIndex.isOwn(mention.identity)) return disproven("bad-source", "The source redirects to this site.");
      return { outcome: "proven", mention: await withHtml(mention) };
    };
    return verify().catch(ifTwtxtError((error) => toProof(error, context.isAskingSource())));
  };
}

function createContext(claim: Claim, parts: VerificationParts, pages: PageQueue) {
  const signal = AbortSignal.timeout(TOTAL_MS);
  let requests = 0;
  let asked = claim.source;
  const checkLimits = () => {
    if (requests > MAX_REQUESTS) {
      throw new TwtxtError("too-many-redirects", `The source leads to more than ${MAX_REQUESTS} URLs.`);
    }
    if (signal.aborted) throw new TwtxtError("unreachable", "The source took too long.", { cause: signal.reason });
  };
  const checkUrl = (url: string) => {
    if (parts.moderation.isBlocked(url)) {
      throw new TwtxtError("blocked", "This site blocks mentions from this source.");
    }
    requests += 1;
    asked = url;
    checkLimits();
  };
  const context: VerificationContext = {
    ask: (url, maxBytes, accept) =>
      parts.ask(url, { maxBytes, headers: { accept }, signal, checkUrl, isFeed: claim.timestamps.length > 0 }),
    checkLimits,
    site: siteMatcher(claim, parts.siteIndex),
    slices: new TimeSlices(signal),
    readAlone: (work) => pages.run(work, signal),
  };
  return { ...context, isAskingSource: () => isSameHost(asked, claim.source) };
}

/** Reads one page at a time, since a page's tree takes up to 50 MiB. */
export class PageQueue {
  readonly #inTurn = serialize();

  /**
   * @param signal - the deadline, waiting included
   * @throws TwtxtError `unreachable` after the deadline; not marked as a timeout of the source if it passed while waiting
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    let isWaiting = !signal.aborted;
    let end = () => {};
    const ended = new Promise<never>((_, reject) => {
      end = () => reject(signal.reason);
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    });
    const turn = this.#inTurn(() => {
      signal.throwIfAborted();
      isWaiting = false;
      return Promise.race([work(), ended]);
    });
    try {
      return await Promise.race([turn, ended]);
    } catch (error) {
      if (error !== signal.reason) throw error;
      const cause = isWaiting ? undefined : error;
      throw new TwtxtError("unreachable", "The page could not be read in time.", { cause });
    } finally {
      // Else the signal would keep the page in memory until its time is over.
      signal.removeEventListener("abort", end);
    }
  }
}

/** @throws TwtxtError as the guard does */
function checkSource(claim: Claim, context: VerificationContext): Promise<SourceResult> {
  return claim.timestamps.length > 0 ? verifyTwt(claim, context) : verifyPage(claim, context);
}

/**
 * Finds the source's own URL: the one it declares, else its URL without the query. Either counts only on the same host
 * and with the same twt or page. Otherwise `bob.txt?1` could repeat a mention, use up its host's share or bypass the
 * author's lists.
 *
 * @returns the mention as found at that URL
 * @throws TwtxtError if the limits of the verification prevent an answer
 * @see PROTOCOL 2.4, "The proof"
 */
async function resolveIdentity(
  seen: SourceMention,
  claim: Claim,
  context: VerificationContext,
): Promise<ProvenMention> {
  const { mention, declared } = seen;
  const { identity } = mention;
  const isOwn = declared !== null && isSameUrl(declared, identity);
  const names = isOwn ? [] : [declared, withoutQuery(identity)].filter((url) => url !== null);
  const others = names.filter(
    (url) => comparableUrl(url) !== null && isSameHost(url, identity) && !isSameUrl(url, identity),
  );
  for (const url of new Set(others)) {
    const other = await checkSource({ ...claim, source: url }, context).catch(
      ifTwtxtError((error) => {
        // Other failures at the source's own URL do not matter.
        if (error.code === "blocked") throw error;
        return null;
      }),
    );
    if (other?.outcome === "proven" && isSameSource(other, seen, url)) return other.mention;
    context.checkLimits();
  }
  return mention;
}

/** @param url - where the other one was found */
function isSameSource(other: SourceMention, seen: SourceMention, url: string): boolean {
  if (!isSameHost(other.mention.identity, seen.mention.identity)) return false;
  if (other.contents === seen.contents) return true;
  // A page may differ in each answer, such as by a nonce. Its declared URL counts then.
  return seen.mention.timestamp === null && other.declared !== null && isSameUrl(other.declared, url);
}

/** @param isOfSource - whether the last request was for the source's host. A redirect of it may lead anyone to a slow host. */
function toProof(error: TwtxtError, isOfSource: boolean): Proof {
  if (error.code === "unreachable")
    return { outcome: "unreachable", why: error.message, isTimeout: isOfSource && isTimeout(error) };
  return disproven(error.code, error.message);
}
