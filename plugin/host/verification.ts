// plugin/host/verification.ts: wires what receives mentions and verifies them at their sources.
import { createGuard } from "../http/guard.js";
import type { Handler } from "../http/respond.js";
import { allowance } from "../mentions/receive/allowance.js";
import { type Moderation, moderation as moderationOf } from "../mentions/receive/moderate.js";
import { PendingMentions } from "../mentions/receive/pending.js";
import { receiveMention } from "../mentions/receive/receive.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import { settling } from "../mentions/receive/settle.js";
import type { SiteIndex } from "../mentions/receive/site-index.js";
import { VerificationQueue } from "../mentions/receive/verification-queue.js";
import { verifyPending } from "../mentions/receive/verify-pending.js";
import { verification } from "../mentions/verify/verify.js";
import type { ServiceOptions } from "./service-options.js";

/** What a host runs to verify mentions. */
export interface Verification {
  receive: Handler;
  pending: PendingMentions;
  moderation: Moderation;
  /** Verifies pending mentions, see {@link verifyPending}. */
  verifyPending: ReturnType<typeof verifyPending>;
  /** Deletes outdated records of what verifications took. */
  sweep(): Promise<void>;
}

/** Everything that connects to a stranger on behalf of the site goes through this guard. */
export function guardOf({ client, settings, guard }: ServiceOptions) {
  return createGuard({ userAgent: `${client} (+${settings.feedUrl}; @${settings.nick})`, ...guard });
}

export function mentionVerification(
  options: ServiceOptions,
  { siteIndex, received, onStored }: { siteIndex: SiteIndex; received: ReceivedMentions; onStored(): void },
): Verification {
  const { settings, store, now, isMetered, log } = options;
  const { limits } = settings.mentions;
  const moderation = moderationOf(settings.mentions);
  const allowed = allowance({ store, now, limits, isMetered, log });
  const pending = new PendingMentions({ store, now, limits });
  const settle = settling({
    verify: verification({ ask: guardOf(options), siteIndex, moderation }),
    queue: new VerificationQueue(),
    allowance: allowed,
    received,
    pending,
    moderation,
    now,
    onKept: onStored,
    log,
  });
  return {
    receive: receiveMention({ siteIndex, moderation, settle, pending, feedUrl: settings.feedUrl }),
    pending,
    moderation,
    verifyPending: verifyPending({ pending, settle, log }),
    sweep: allowed.sweep,
  };
}
