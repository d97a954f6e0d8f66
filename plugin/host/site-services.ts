// plugin/host/site-services.ts: all endpoints and jobs of a site.
import { coalesce } from "../concurrency.js";
import { LOG_LENGTH, oneLine } from "../http/one-line.js";
import { later } from "../later.js";
import { notifyAuthor } from "../mentions/inform/digest.js";
import { guestDocument } from "../messages/inbox/guest-document.js";
import { blobServices } from "./blobs.js";
import { createChannels } from "./channels.js";
import { createEndpoints } from "./endpoints.js";
import { fediverseHandlers } from "./fediverse.js";
import { healthHandler } from "./health.js";
import { inboxServices } from "./inbox.js";
import { createJobs, type JobParts } from "./jobs.js";
import { mentionServices } from "./mentions.js";
import type { ServiceOptions } from "./service-options.js";
import { siteDataHandlers } from "./site-data.js";
import { siteStateHandlers } from "./site-state.js";
import { timelineServices } from "./timeline.js";
import { attempt } from "./work.js";

const faultReader = later(() => import("../mentions/networks/network-records.js"));

export type SiteServices = ReturnType<typeof siteServices>;

export function siteServices(given: ServiceOptions) {
  const streams = new AbortController();
  const options: ServiceOptions = {
    ...given,
    // A line may quote what another server sent.
    log: (line, context) => given.log(oneLine(line, LOG_LENGTH), context),
    ending: AbortSignal.any([streams.signal, ...(given.ending ? [given.ending] : [])]),
  };
  const notifySoon = () => options.background(notifyAuthor());
  const mentions = mentionServices(options, notifySoon);
  const timeline = timelineServices(options);
  const inbox = inboxServices(options, notifySoon);
  const blobs = blobServices(options);
  const notifyAuthor = authorNotifier(options, { mentions, inbox });
  const handlers = {
    health: healthHandler(options),
    ...mentions.handlers,
    ...timeline.handlers,
    ...inbox.handlers,
    guest: guestDocument(options.settings.urls.inbox),
    ...blobs.handlers,
    ...siteStateHandlers(options),
    ...fediverseHandlers(options),
    ...siteDataHandlers(options),
  };
  return {
    ...createJobs(options, { mentions, timeline, inbox, blobs, notifyAuthor }),
    endpointAt: createEndpoints(options.settings, handlers, options.log),
    /** Notifies the author of new mentions and messages, if a channel is on and its time has come. */
    notifyAuthor,
    /** Ends the event streams of the inboxes, because a new build takes over: readers connect again. */
    endStreams: () => streams.abort(),
  };
}

function authorNotifier(options: ServiceOptions, { mentions, inbox }: Pick<JobParts, "mentions" | "inbox">) {
  const { settings, store, environment, now, log, isLive } = options;
  const channels = createChannels(environment, {
    page: settings.urls.mentionsPage ?? settings.url,
    digestHours: settings.mentions.digestHours,
    siteIndex: mentions.siteIndex,
    links: mentions.links,
  });
  const { list } = mentions.received;
  const refused = options.pages.twts.some(({ copy }) => copy)
    ? async () => (await faultReader()).readFaults(store)
    : undefined;
  const notify = coalesce(() =>
    notifyAuthor({ list, inboxes: () => inbox.news(), refused, store, now, channels, log }),
  );
  return async () => {
    if (isLive && channels.length > 0) await attempt("Notifying you", notify, log);
  };
}
