// plugin/mentions/receive/verify-pending.ts: asks the sources again that gave no answer.
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import { politeQueue } from "../polite-queue.js";
import { AUTHOR, type Requester, SCHEDULE } from "./allowance.js";
import type { PendingMention, PendingMentions } from "./pending.js";
import type { Settle } from "./settle.js";
import { AT_ONCE_PER_REQUESTER } from "./verification-queue.js";

/** What became of those that were asked. */
export interface VerifiedPending {
  kept: number;
  /** The source does not say so, or gave no verdict in the last attempt. */
  dropped: number;
  waiting: number;
}

export interface PendingVerification {
  pending: PendingMentions;
  settle: Settle;
  log: Log;
}

/**
 * Verifies what is pending, oldest first.
 *
 * @param which - `due` for those whose time has come; `all` where the author asks for it
 * @param isOver - nothing more is started once this holds
 */
export function verifyPending(parts: PendingVerification) {
  const { pending } = parts;
  return async (which: "due" | "all", isOver: () => boolean): Promise<VerifiedPending> => {
    const mentions = (await pending.all()).filter((mention) => which === "all" || pending.isDue(mention));
    const result: VerifiedPending = { kept: 0, dropped: 0, waiting: 0 };
    const requester = which === "all" ? AUTHOR : SCHEDULE;
    const queue = politeQueue({ total: AT_ONCE_PER_REQUESTER });
    await Promise.all(
      mentions.map((mention) =>
        queue(new URL(mention.source).host, async () => {
          result[isOver() ? "waiting" : await verifyOne(mention, requester, parts)] += 1;
        }),
      ),
    );
    return result;
  };
}

async function verifyOne(
  mention: PendingMention,
  requester: Requester,
  { pending, settle, log }: PendingVerification,
): Promise<keyof VerifiedPending> {
  try {
    const outcome = await settle(mention, requester);
    if (outcome === "kept" || outcome === "removed") return "kept";
    // The author's request is no attempt: asked five times in a row, a source that is down would lose its mention.
    if (requester === AUTHOR) return "waiting";
    const isDropped = outcome === "no verdict" ? await pending.noteAttempt(mention) : pending.isOver(mention);
    if (!isDropped) return "waiting";
    await pending.drop(mention);
    log(notAccepted(mention, "It gave no verdict in time."));
    return "dropped";
  } catch (error) {
    if (!(error instanceof TwtxtError) || error.code === "store-failed") throw error;
    log(notAccepted(mention, error.message));
    return "dropped";
  }
}

function notAccepted({ source, target }: PendingMention, why: string): string {
  return `Not accepted: mention of ${target.url} in ${source}. ${why}`;
}
