// plugin/mentions/verify/verify.ts: whether a source says what somebody has told us that it says.
import { TwtxtError } from "../../errors.js";
import { type GuardedFetch, isTimeout } from "../../http/guarded-fetch.js";
import { TimeSlices } from "../../http/time-slices.js";
import type { Proof, Verify } from "../mention.js";
import type { Moderation } from "../receive/moderate.js";
import type { Ours } from "../receive/ours.js";
import { type AskSource, disproven } from "./ask-source.js";
import { verifyTwt } from "./verify-feed.js";
import { verifyPage } from "./verify-page.js";

export interface VerificationParts {
  fetch: GuardedFetch;
  ours: Pick<Ours, "target">;
  moderation: Pick<Moderation, "isBlocked">;
  /** For one verification, archives included; default 10,000. */
  totalMs?: number;
}

/**
 * Makes the function that verifies a claim by looking at its source.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
export function verification({ fetch, ours, moderation, totalMs = 10_000 }: VerificationParts): Verify {
  const mayAsk = (url: string) => {
    if (moderation.isBlocked(url)) throw new TwtxtError("blocked", "This source is not wanted here.");
  };

  return async (claim) => {
    const signal = AbortSignal.timeout(totalMs);
    const ask: AskSource = (url, maxBytes, accept) => fetch(url, { maxBytes, headers: { accept }, signal, mayAsk });
    const isTarget = (url: string) => ours.target(url)?.url === claim.target.url;
    try {
      return await (claim.timestamps.length > 0 ? verifyTwt : verifyPage)(claim, ask, isTarget, new TimeSlices(signal));
    } catch (error) {
      return proofOf(error);
    }
  };
}

function proofOf(error: unknown): Proof {
  if (!(error instanceof TwtxtError)) throw error;
  if (error.code === "unreachable") return { outcome: "unreachable", why: error.message, isTimeout: isTimeout(error) };
  return disproven(error.code, error.message, { isGone: false, identity: null });
}
