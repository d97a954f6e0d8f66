// plugin/mentions/verify/verify.ts: verifies a claim at its source.
import { TwtxtError } from "../../errors.js";
import { type Ask, isTimeout } from "../../http/guard.js";
import { isSameUrl } from "../../http/same-url.js";
import { TimeSlices } from "../../http/time-slices.js";
import type { Claim, Proof, ProvenMention, Verify } from "../mention.js";
import type { Moderation } from "../receive/moderation.js";
import type { SiteIndex } from "../receive/site-index.js";
import { type CheckSource, resolveIdentity } from "./identity.js";
import { PageQueue } from "./page-queue.js";
import { siteMatcher } from "./site-matcher.js";
import { type AskSource, disproven, type VerificationContext } from "./verification-context.js";
import { verifyTwt } from "./verify-feed.js";
import { verifyPage } from "./verify-page.js";

/** Per verification: ten parts of a feed, the same under its own URL, and some redirects. */
const MAX_REQUESTS = 30;

export interface VerificationParts {
  ask: Ask;
  siteIndex: SiteIndex;
  moderation: Pick<Moderation, "isBlocked">;
  /** Time limit of one verification, archives included; default 10,000. */
  totalMs?: number;
}

/**
 * Creates the function that verifies claims.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
export function createVerify({ ask: askGuarded, siteIndex, moderation, totalMs = 10_000 }: VerificationParts): Verify {
  const pages = new PageQueue();

  return async (claim) => {
    const signal = AbortSignal.timeout(totalMs);
    let requests = 0;
    const checkLimits = () => {
      if (requests > MAX_REQUESTS) {
        throw new TwtxtError("too-many-redirects", `The source leads to more than ${MAX_REQUESTS} URLs.`);
      }
      if (signal.aborted) throw new TwtxtError("unreachable", "The source took too long.", { cause: signal.reason });
    };
    const checkUrl = (url: string) => {
      if (moderation.isBlocked(url)) throw new TwtxtError("blocked", "This site blocks mentions from this source.");
      requests += 1;
      checkLimits();
    };
    const ask: AskSource = (url, maxBytes, accept) =>
      askGuarded(url, { maxBytes, headers: { accept }, signal, checkUrl });
    const context: VerificationContext = {
      ask,
      checkLimits,
      site: siteMatcher(claim, siteIndex),
      slices: new TimeSlices(signal),
      readAlone: (work) => pages.run(work, signal),
    };
    const look: CheckSource = (claim) => (claim.timestamps.length > 0 ? verifyTwt : verifyPage)(claim, context);
    try {
      const seen = await look(claim);
      if (seen.outcome !== "proven") return seen;
      const mention = await resolveIdentity(seen, claim, { look, checkLimits });
      return isOwn(mention, claim, siteIndex) ? ownSource() : { outcome: "proven", mention };
    } catch (error) {
      return proofOf(error);
    }
  };
}

/** Whether the source redirected to this site's own feed or to the target. */
function isOwn({ identity }: ProvenMention, { target }: Claim, siteIndex: SiteIndex): boolean {
  return siteIndex.isFeed(identity) || isSameUrl(identity, target.url);
}

function ownSource(): Proof {
  const why = "The source redirects to this site's own feed or to the target itself.";
  return disproven("bad-source", why, { isGone: false, identity: null });
}

function proofOf(error: unknown): Proof {
  if (!(error instanceof TwtxtError)) throw error;
  if (error.code === "unreachable") return { outcome: "unreachable", why: error.message, isTimeout: isTimeout(error) };
  return disproven(error.code, error.message, { isGone: false, identity: null });
}
