// plugin/mentions/receive/verify-pending.ts: retries pending mentions.
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import { hostQueue } from "../host-queue.js";
import { AUTHOR, type Requester, SCHEDULE } from "./allowance.js";
import type { PendingMention, PendingMentions } from "./pending.js";
import { AT_ONCE_PER_REQUESTER } from "./verification-queue.js";
import type { ClaimProcessor } from "./verify-and-store.js";

/** Counts of pending mentions by result. */
export interface VerifiedPending {
  kept: number;
  /** The source does not confirm it, or gave no verdict in the last attempt. */
  dropped: number;
  waiting: number;
}

export interface VerifyPendingParts {
  pending: PendingMentions;
  claims: Pick<ClaimProcessor, "process">;
  log: Log;
}

/**
 * Verifies pending mentions, oldest first.
 *
 * @param which - `due` for those whose time has come; `all` at the author's request
 * @param isOver - when true, nothing more is started
 */
export async function verifyPending(
  parts: VerifyPendingParts,
  which: "due" | "all",
  isOver: () => boolean,
): Promise<VerifiedPending> {
  const { pending } = parts;
  const mentions = (await pending.all()).filter((mention) => which === "all" || pending.isDue(mention));
  const result: VerifiedPending = { kept: 0, dropped: 0, waiting: 0 };
  const requester = which === "all" ? AUTHOR : SCHEDULE;
  const queue = hostQueue({ total: AT_ONCE_PER_REQUESTER });
  await Promise.all(
    mentions.map((mention) =>
      queue(new URL(mention.source).host, async () => {
        result[isOver() ? "waiting" : await verifyOne(mention, requester, parts)] += 1;
      }),
    ),
  );
  return result;
}

async function verifyOne(
  mention: PendingMention,
  requester: Requester,
  { pending, claims, log }: VerifyPendingParts,
): Promise<keyof VerifiedPending> {
  try {
    const outcome = await claims.process(mention, requester);
    if (outcome === "stored" || outcome === "removed") return "kept";
    // The author's requests are not counted: five in a row would drop the mention of a source that is down.
    if (requester === AUTHOR) return "waiting";
    const isDropped = outcome === "no verdict" ? await pending.noteAttempt(mention) : pending.isOver(mention);
    if (!isDropped) return "waiting";
    await pending.drop(mention);
    log(describeDropped(mention, "The source could not be verified in time."));
    return "dropped";
  } catch (error) {
    if (!(error instanceof TwtxtError) || error.code === "store-failed") throw error;
    log(describeDropped(mention, error.message));
    return "dropped";
  }
}

function describeDropped({ source, target }: PendingMention, why: string): string {
  return `Dropped a pending mention of ${target.url} in ${source}. ${why}`;
}
