// plugin/mentions/receive/verify-and-store.ts: verifies claims, immediately or later, and stores or removes their mentions.
import type { Clock, JobRun } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import { later } from "../../later.js";
import type { PostedClaim, Proof, ProvenMention, StoredMention, Verify } from "../mention.js";
import { formatReference } from "../reference.js";
import { type Allowance, AUTHOR, findWidestGroup, type Requester } from "./allowance.js";
import type { NewMention } from "./event.js";
import type { VerifiedPending } from "./managed-mention.js";
import type { Moderation } from "./moderation.js";
import type { PendingMention, PendingMentions } from "./pending.js";
import type { ReceivedMentions } from "./received.js";
import { CONCURRENCY_PER_REQUESTER, interleaveGroups, VerificationQueue } from "./verification-queue.js";

const queues = later(() => import("../host-queue.js"));

/** `waiting`: the source was not asked; `no verdict`: it did not answer. */
export type ClaimOutcome = "stored" | "removed" | "waiting" | "no verdict";

type Disproof = Extract<Proof, { outcome: "disproven" }>;

interface ClaimProcessorOptions {
  verify: Verify;
  allowance: Allowance;
  received: ReceivedMentions;
  pending: PendingMentions;
  moderation: Moderation;
  now: Clock;
  onStored(): void;
  log: Log;
}

export class ClaimProcessor {
  readonly #queue = new VerificationQueue();

  constructor(readonly options: ClaimProcessorOptions) {}

  /**
   * Verifies a claim, and stores or removes its mention.
   *
   * @throws TwtxtError with the code of PROTOCOL 2.4 if the source does not confirm the claim
   */
  async process(claim: PostedClaim, requester: Requester): Promise<ClaimOutcome> {
    const proof = await this.#verify(claim, requester);
    if (proof === null) return "waiting";
    if (proof.outcome === "unreachable") return "no verdict";
    const outcome =
      proof.outcome === "proven"
        ? await this.#store(claim, proof.mention)
        : await this.#remove(claim, proof, requester);
    // After storing. Any verdict ends the wait, including one that another request brought.
    const isFinal = outcome !== "waiting" && outcome !== "no verdict";
    if (isFinal) await this.options.pending.drop(claim);
    if (outcome instanceof TwtxtError) throw outcome;
    return outcome;
  }

  /**
   * Verifies pending mentions. Senders take turns, and so do the hosts of one sender, which uses its own share of the day.
   *
   * @param which - `due` for those whose time has come; `all` at the author's request
   * @param run - once `isOver` returns true, nothing more is started; `steadySince`: when the clock last jumped
   */
  async verifyPending(which: "due" | "all", { isOver, steadySince }: JobRun): Promise<VerifiedPending> {
    const { pending, moderation } = this.options;
    const mentions = (await pending.all()).filter((mention) => which === "all" || pending.isDue(mention));
    if (mentions.length > 0) await moderation.blockList?.refresh();
    const result: VerifiedPending = { kept: 0, dropped: 0, waiting: 0 };
    const { hostQueue } = await queues();
    const queue = hostQueue(CONCURRENCY_PER_REQUESTER);
    const verify = async (mention: PendingMention) => {
      const requester = which === "all" ? AUTHOR : mention.sender;
      result[isOver() ? "waiting" : await this.#processPending(mention, requester, steadySince)] += 1;
    };
    const readHost = ({ source }: PendingMention) => new URL(source).host;
    const ordered = interleaveGroups(
      mentions,
      ({ sender }) => findWidestGroup(sender),
      (ofSender) => interleaveGroups(ofSender, readHost),
    );
    await Promise.all(ordered.map((mention, i) => queue(readHost(mention), () => verify(mention), -i)));
    return result;
  }

  async #processPending(
    mention: PendingMention,
    requester: Requester,
    steadySince: number,
  ): Promise<keyof VerifiedPending> {
    const { pending, log } = this.options;
    try {
      const outcome = await this.process(mention, requester);
      if (outcome === "stored" || outcome === "removed") return "kept";
      // The author's requests are not counted: five in a row would drop the mention of a source that is down.
      if (requester === AUTHOR) return "waiting";
      const isDropped =
        outcome === "no verdict" ? await pending.noteAttempt(mention) : pending.isOver(mention, steadySince);
      if (!isDropped) return "waiting";
      await pending.drop(mention);
      log(describeDropped(mention, "The source could not be verified in time."));
    } catch (error) {
      if (!(error instanceof TwtxtError) || error.code === "store-failed") throw error;
      log(describeDropped(mention, error.message));
    }
    return "dropped";
  }

  /** Verifies when a slot of the queue is free. @returns `null` if the source may not be asked now */
  #verify(claim: PostedClaim, requester: Requester): Promise<Proof | null> {
    const { allowance, verify, now } = this.options;
    return this.#queue.run(requester, async () => {
      if (!(await allowance.permits(claim.source, requester))) return null;
      const start = now();
      const proof = await verify(claim);
      const isTimeout = proof.outcome === "unreachable" && proof.isTimeout;
      await allowance.record(claim.source, requester, { milliseconds: now() - start, isTimeout });
      return proof;
    });
  }

  /** @param replaces - the id of a mention of another target that the source no longer names */
  async #store(claim: PostedClaim, mention: ProvenMention, replaces?: string): Promise<"stored"> {
    const { received, moderation, onStored, log } = this.options;
    const target = claim.target.url;
    const under = mention.about ?? claim.under;
    const found: NewMention = {
      ...mention,
      given: claim.source,
      target,
      under: under === target ? null : under,
      hold: moderation.chooseHold(mention.identity),
      ...(replaces !== undefined && { replaces }),
    };
    // Anyone can send a mention again at any time, so a repeat must cost neither a record nor a CDN purge.
    if (replaces === undefined && (await received.journal.holds(found))) return "stored";
    const { at, stored } = await received.keep(found);
    onStored();
    if (stored) log(describeStored(stored, at, claim));
    return "stored";
  }

  /**
   * Removes the mention that the source no longer has. A mention known by another URL is removed only if that URL confirms it: an
   * answer to `bob.txt?1` says nothing about `bob.txt`.
   *
   * @returns an error if nothing was stored from this source
   */
  async #remove(
    claim: PostedClaim,
    { code, why, isGone, identity }: Disproof,
    requester: Requester,
  ): Promise<Exclude<ClaimOutcome, "stored"> | TwtxtError> {
    if (!isGone) return new TwtxtError(code, why);
    const { received, log } = this.options;
    const answered = identity ?? claim.source;
    const known = await received.findClaimed(claim, answered);
    const isSame = (mention: StoredMention) => mention.identity === answered;
    const gone = known.filter(isSame);
    // Only one: a URL may have led to any number of others, and each check takes up to ten seconds.
    const [other] = known.filter((mention) => !isSame(mention));
    if (other) {
      const proof = await this.#verify({ ...claim, source: other.identity }, requester);
      if (proof?.outcome === "disproven" && proof.isGone) gone.push(other);
    }
    for (const mention of gone) {
      const outcome = await this.#keepUnderPost(mention, claim, requester);
      if (outcome === "waiting" || outcome === "no verdict") return outcome;
      if (outcome === "stored") continue;
      await received.remove(mention.id);
      log(`Removed a mention that its source no longer has: ${describeClaim(claim)}`);
    }
    return gone.length > 0 ? "removed" : new TwtxtError(code, why);
  }

  /**
   * Keeps a mention under its post if the source no longer names the target but still the post, such as a twt that
   * mentioned the feed and linked to the post. Such a mention was stored once, for both.
   *
   * @returns `removed` if the source does not name the post; otherwise as {@link process}
   */
  async #keepUnderPost(mention: StoredMention, claim: PostedClaim, requester: Requester): Promise<ClaimOutcome> {
    const { under, identity, id } = mention;
    if (under === null) return "removed";
    const post: PostedClaim = { ...claim, source: identity, target: { url: under, kind: "page" }, under: null };
    const proof = await this.#verify(post, requester);
    if (proof === null) return "waiting";
    if (proof.outcome === "unreachable") return "no verdict";
    return proof.outcome === "proven" ? this.#store(post, proof.mention, id) : "removed";
  }
}

/** @param at - when it was last stored */
function describeStored({ state, received }: StoredMention, at: string, claim: PostedClaim): string {
  const held = state === "held" ? ". It waits for your approval: npx eleventy-twtxt mentions --state held" : "";
  return `${received === at ? "New" : "Changed"} mention of ${describeClaim(claim)}${held}`;
}

function describeClaim({ source, timestamps: [timestamp], target }: PostedClaim): string {
  return `${target.url} in ${timestamp === undefined ? source : formatReference(source, timestamp)}`;
}

function describeDropped({ source, target }: PendingMention, why: string): string {
  return `Dropped a pending mention of ${target.url} in ${source}. ${why}`;
}
