// plugin/host/verification.ts: wires the receiving and verification of mentions.
import { Allowance } from "../mentions/receive/allowance.js";
import type { Moderation } from "../mentions/receive/moderation.js";
import { PendingMentions } from "../mentions/receive/pending.js";
import { receiveMention } from "../mentions/receive/receive.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import type { SiteIndex } from "../mentions/receive/site-index.js";
import { ClaimProcessor } from "../mentions/receive/verify-and-store.js";
import { createVerify } from "../mentions/verify/verify.js";
import type { ServiceOptions } from "./service-options.js";
import { siteGuard } from "./site-guard.js";

export function mentionVerification(
  options: ServiceOptions,
  parts: { siteIndex: SiteIndex; received: ReceivedMentions; moderation: Moderation; onStored(): void },
) {
  const { settings, store, now, isMetered, log } = options;
  const { siteIndex, moderation } = parts;
  const { limits } = settings.mentions;
  const allowance = new Allowance({ store, now, limits, isMetered, log });
  const pending = new PendingMentions({ store, now, limits, log });
  const claims = new ClaimProcessor({
    ...{ ...parts, allowance, pending, now, log },
    verify: createVerify({ ask: siteGuard(options), siteIndex, moderation }),
  });
  return {
    receive: receiveMention({
      ...{ siteIndex, moderation, claims, pending },
      site: {
        ...{ feedUrl: settings.feedUrl, endpointPage: options.pages.endpointPage },
        findLanguage: (target) => options.pages.twts.find(({ page }) => page === target)?.lang ?? settings.lang,
      },
    }),
    claims,
    pending,
  };
}
