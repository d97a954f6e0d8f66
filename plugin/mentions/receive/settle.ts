// plugin/mentions/receive/settle.ts: looks at a source, and does what follows from what it says.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { toInstant } from "../../feed/timestamp.js";
import type { Log } from "../../http/respond.js";
import type { Proof, ProvenMention, StoredMention, Verify } from "../mention.js";
import { formatReference } from "../reference.js";
import type { Allowance, Requester } from "./allowance.js";
import type { NewMention } from "./event.js";
import type { Moderation } from "./moderate.js";
import type { PendingMentions } from "./pending.js";
import type { ReadClaim } from "./read-claim.js";
import type { ReceivedMentions } from "./received.js";
import type { VerificationQueue } from "./verification-queue.js";

/** How it ended: `waiting` where the source was not asked, `no verdict` where it did not answer. */
export type Settled = "kept" | "removed" | "waiting" | "no verdict";

/** @throws TwtxtError where the source does not say so, with the code that PROTOCOL 2.4 answers with */
export type Settle = (claim: ReadClaim, requester: Requester) => Promise<Settled>;

type Disproof = Extract<Proof, { outcome: "disproven" }>;

/** Verifies, then keeps or removes. */
export function settling(parts: SettleParts): Settle {
  return async (claim, requester) => {
    const proof = await ask(parts, claim, requester);
    if (proof === null) return "waiting";
    if (proof.outcome === "unreachable") return "no verdict";
    const settled =
      proof.outcome === "proven"
        ? await keep(parts, claim, proof.mention)
        : await remove(parts, claim, proof, requester);
    // After it is stored: any verdict ends the wait for one, even if another request has brought it.
    await parts.pending.drop(claim);
    if (settled instanceof TwtxtError) throw settled;
    return settled;
  };
}

export interface SettleParts {
  verify: Verify;
  queue: VerificationQueue;
  allowance: Allowance;
  received: ReceivedMentions;
  pending: Pick<PendingMentions, "drop">;
  moderation: Moderation;
  now: Clock;
  /** Called when a mention was stored that is new or has changed. */
  onKept(): void;
  /** Told of each change, one line. */
  log: Log;
}

/** Verifies when it is this requester's turn. @returns `null` where the source may not be asked now */
function ask(parts: SettleParts, claim: ReadClaim, requester: Requester): Promise<Proof | null> {
  return parts.queue.run(requester, () => verifyIfPermitted(parts, claim, requester));
}

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
  { received, moderation, onKept, log }: SettleParts,
  claim: ReadClaim,
  mention: ProvenMention,
): Promise<"kept"> {
  const target = claim.target.url;
  const under = mention.about ?? claim.under;
  const others = moderation.moderate ? "always" : "when many";
  const found: NewMention = {
    ...mention,
    given: claim.source,
    target,
    under: under === target ? null : under,
    hold: moderation.isAllowed(mention.identity) ? "never" : others,
  };
  // Anyone can send it again at any time: that must cost neither a record nor a purge of the CDN.
  if (await received.holds(found)) return "kept";
  const at = await received.keep(found);
  onKept();
  // The mention is durable: a store that fails from here on must not fail it.
  const stored = await received.find(found).catch(() => null);
  if (stored) log(reportOf(stored, at, claim));
  return "kept";
}

/** @param at - when it was last stored */
function reportOf({ state, received }: StoredMention, at: string, claim: ReadClaim): string {
  const held = state === "held" ? ". It waits for your approval: npx eleventy-twtxt mentions --state held" : "";
  return `${received === at ? "New" : "Changed"} mention of ${namedBy(claim)}${held}`;
}

function namedBy({ source, timestamps: [timestamp], target }: ReadClaim): string {
  return `${target.url} in ${timestamp === undefined ? source : formatReference(source, timestamp)}`;
}

/**
 * Removes what the source has taken back. A mention that is known by another URL goes only where that one says so too: an
 * answer to `bob.txt?1` concludes nothing about `bob.txt`.
 *
 * @returns why the source is refused, where nothing was stored of it
 */
async function remove(
  parts: SettleParts,
  claim: ReadClaim,
  { code, why, isGone, identity }: Disproof,
  requester: Requester,
): Promise<"removed" | TwtxtError> {
  if (!isGone) return new TwtxtError(code, why);
  const { received, log } = parts;
  const { source, timestamps, target } = claim;
  const instant = timestamps[0] === undefined ? null : toInstant(timestamps[0]);
  const known = await received.ofSource({ url: source, identity, instant, timestamps, target: target.url });
  const isSame = (mention: StoredMention) => mention.identity === (identity ?? source);
  const gone = known.filter(isSame);
  // One of them: a URL may have led to any number of others, and each takes up to ten seconds.
  const [other] = known.filter((mention) => !isSame(mention));
  if (other) {
    const proof = await ask(parts, { ...claim, source: other.identity }, requester);
    if (proof?.outcome === "disproven" && proof.isGone) gone.push(other);
  }
  for (const { id } of gone) {
    await received.remove(id);
    log(`Removed, since it is gone at its source: mention of ${namedBy(claim)}`);
  }
  return gone.length > 0 ? "removed" : new TwtxtError(code, why);
}
