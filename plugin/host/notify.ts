// plugin/host/notify.ts: tells the author of new mentions and messages, by mail and webhook.
import { coalesced } from "../mentions/coalesced.js";
import { informAuthor } from "../mentions/inform/digest.js";
import { smtpMail } from "../mentions/inform/mail.js";
import { webhook } from "../mentions/inform/webhook.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import type { Inboxes } from "../messages/inbox/inboxes.js";
import { attempt } from "./attempt.js";
import { canNotify } from "./secrets.js";
import type { ServiceOptions } from "./service-options.js";

/** @returns a function that tells the author what is new, if there is a channel and something to tell now */
export function authorNotifier(
  options: ServiceOptions,
  { received, inbox }: { received: Pick<ReceivedMentions, "list">; inbox: Pick<Inboxes, "news"> },
): () => Promise<void> {
  const { settings, store, secrets, now, log } = options;
  const { smtpUrl, mailTo, webhookUrl } = secrets;
  const inform = coalesced(() =>
    informAuthor({
      list: received.list,
      inboxes: inbox.news,
      store,
      now,
      mail: smtpUrl && mailTo ? smtpMail(smtpUrl, mailTo) : undefined,
      webhook: webhookUrl ? webhook(webhookUrl, options.fetch) : undefined,
      digestHours: settings.mentions.digestHours,
      page: settings.urls.mentionsPage ?? settings.url,
      log,
    }),
  );
  return async () => {
    if (options.isLive && canNotify(secrets)) await attempt("Notifying you", inform, log);
  };
}
