// plugin/host/notify.ts: notifies the author of new mentions and messages.
import { coalesce } from "../mentions/coalesce.js";
import { notifyAuthor } from "../mentions/inform/digest.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import type { Inboxes } from "../messages/inbox/inboxes.js";
import { attempt } from "./attempt.js";
import { channelsOf } from "./channels.js";
import type { ServiceOptions } from "./service-options.js";

/** @returns a function that tells the author what is new, if there is a channel and something to tell now */
export function authorNotifier(
  options: ServiceOptions,
  { received, inbox }: { received: Pick<ReceivedMentions, "list">; inbox: Pick<Inboxes, "news"> },
): () => Promise<void> {
  const { settings, store, secrets, now, log } = options;
  const channels = channelsOf(secrets.channels, {
    page: settings.urls.mentionsPage ?? settings.url,
    digestHours: settings.mentions.digestHours,
    fetch: options.fetch,
  });
  const inform = coalesce(() => notifyAuthor({ list: received.list, inboxes: inbox.news, store, now, channels, log }));
  return async () => {
    if (options.isLive && channels.length > 0) await attempt("Notifying you", inform, log);
  };
}
