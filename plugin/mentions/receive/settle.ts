// plugin/mentions/receive/settle.ts: looks at a source, and does what follows from what it says.
import { TwtxtError } from "../../errors.js";
import { toInstant } from "../../feed/timestamp.js";
import type { Log } from "../../http/respond.js";
import { isSameUrl } from "../../http/same-url.js";
import type { Proof, Verify } from "../mention.js";
import { formatReference } from "../reference.js";
import type { Allowance, Requester } from "./allowance.js";
import type { NewMention } from "./event.js";
import type { Moderation } from "./moderate.js";
import type { Ours } from "./ours.js";
import type { ReadClaim } from "./read-claim.js";
import type { Received } from "./received.js";
import type { VerificationQueue } from "./verification-queue.js";

/** How it ended: `waiting` where the source was not asked, `no verdict` where it did not answer. */
export type Settled = "kept" | "removed" | "waiting" | "no verdict";

/** @throws TwtxtError where the source does not say so, with the code that PROTOCOL 2.4 answers with */
export type Settle = (claim: ReadClaim, requester: Requester) => Promise<Settled>;

/** Verifies, then keeps or removes. */
export function settling(parts: SettleParts): Settle {
  return async (claim, requester) => {
    const proof = await parts.queue.run(requester, () => verifyIfPermitted(parts, claim, requester));
    if (proof === null) return "waiting";
    switch (proof.outcome) {
      case "proven":
        await keep(parts, claim, proof.mention);
        return "kept";
      case "unreachable":
        return "no verdict";
      case "disproven":
        if (proof.isGone && (await remove(parts, claim, proof.identity))) {
          parts.log(`Removed, since it is gone at its source: mention of ${namedBy(claim)}`);
          return "removed";
        }
        throw new TwtxtError(proof.code, proof.why);
    }
  };
}

export interface SettleParts {
  verify: Verify;
  queue: VerificationQueue;
  allowance: Allowance;
  received: Received;
  moderation: Moderation;
  ours: Ours;
  /** Milliseconds since 1970. */
  now(): number;
  /** Told of each change, one line. */
  log: Log;
}

/** @returns `null` where the source may not be asked now */
async function verifyIfPermitted(
  { verify, allowance, now }: SettleParts,
  claim: ReadClaim,
  requester: Requester,
): Promise<Proof | null> {
  if (!(await allowance.permits(claim.source, requester))) return null;
  const start = now();
  const proof = await verify(claim);
  const isTimeout = proof.outcome === "unreachable" && proof.isTimeout;
  await allowance.record(claim.source, requester, { milliseconds: now() - start, isTimeout });
  return proof;
}

async function keep(
  { received, moderation, ours, log }: SettleParts,
  claim: ReadClaim,
  mention: Extract<Proof, { outcome: "proven" }>["mention"],
): Promise<void> {
  const target = claim.target.url;
  if (ours.isFeed(mention.identity) || isSameUrl(mention.identity, target)) {
    throw new TwtxtError("bad-source", "The source leads to this site's own feed, or to the target itself.");
  }
  const under = claim.under ?? (mention.subject === null ? null : ours.pageOfHash(mention.subject));
  const others = moderation.moderate ? "always" : "when many";
  const found: NewMention = {
    ...mention,
    given: claim.source,
    target,
    under: under === target ? null : under,
    hold: moderation.isAllowed(mention.identity) ? "never" : others,
  };
  // Anybody can send it again as often as they like: that is to cost neither a record nor a purge of the CDN.
  if (await received.holds(found)) return;
  await received.keep(found);
  log(`New mention of ${namedBy(claim)}`);
}

function namedBy({ source, timestamps: [timestamp], target }: ReadClaim): string {
  return `${target.url} in ${timestamp === undefined ? source : formatReference(source, timestamp)}`;
}

function remove({ received }: SettleParts, { source, timestamps, target }: ReadClaim, identity: string | null) {
  const instant = timestamps[0] === undefined ? null : toInstant(timestamps[0]);
  return received.remove({ url: source, identity, instant, timestamps, target: target.url });
}
