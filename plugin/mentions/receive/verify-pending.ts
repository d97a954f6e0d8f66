// plugin/mentions/receive/verify-pending.ts: asks the sources again that gave no answer.
import { TwtxtError } from "../../errors.js";
import type { Log } from "../../http/respond.js";
import { politeQueue } from "../polite-queue.js";
import { AUTHOR, type Requester, SCHEDULE } from "./allowance.js";
import type { Pending, PendingMention } from "./pending.js";
import type { Settle } from "./settle.js";
import { AT_ONCE_PER_REQUESTER } from "./verification-queue.js";

/** What became of those that were asked. */
export interface VerifiedPending {
  kept: number;
  /** The source does not say so. */
  dropped: number;
  waiting: number;
}

/**
 * Verifies what is pending, oldest first.
 *
 * @param which - `due` for those whose time has come; `all` where the author asks for it
 * @param isOver - nothing more is started once this holds
 */
export function verifyPending({ pending, settle, log }: { pending: Pending; settle: Settle; log: Log }) {
  return async (which: "due" | "all", isOver: () => boolean): Promise<VerifiedPending> => {
    const mentions = (await pending.all()).filter((mention) => which === "all" || pending.isDue(mention));
    const result: VerifiedPending = { kept: 0, dropped: 0, waiting: 0 };
    const requester = which === "all" ? AUTHOR : SCHEDULE;
    const queue = politeQueue({ total: AT_ONCE_PER_REQUESTER });
    await Promise.all(
      mentions.map((mention) =>
        queue(new URL(mention.source).host, async () => {
          result[isOver() ? "waiting" : await verifyOne(mention, requester, pending, settle, log)] += 1;
        }),
      ),
    );
    return result;
  };
}

async function verifyOne(
  mention: PendingMention,
  requester: Requester,
  pending: Pending,
  settle: Settle,
  log: Log,
): Promise<keyof VerifiedPending> {
  try {
    const outcome = await settle(mention, requester);
    if (outcome === "waiting") {
      if (!pending.isOver(mention)) return "waiting";
      await pending.drop(mention);
      return "dropped";
    }
    if (outcome === "no verdict") {
      await pending.noteAttempt(mention);
      return "waiting";
    }
    await pending.drop(mention);
    return "kept";
  } catch (error) {
    if (!(error instanceof TwtxtError) || error.code === "store-failed") throw error;
    log(`Not accepted: mention of ${mention.target.url} in ${mention.source}. ${error.message}`);
    await pending.drop(mention);
    return "dropped";
  }
}
