// plugin/host/site-services.ts: everything that a host runs for a site.
import { LOG_LENGTH, oneLine } from "../http/one-line.js";
import { blobServices } from "./blobs.js";
import { type Endpoint, endpointsOf } from "./endpoints.js";
import { healthHandler } from "./health.js";
import { inboxServices } from "./inbox.js";
import { type Jobs, jobsOf } from "./jobs.js";
import { mentionServices } from "./mentions.js";
import { authorNotifier } from "./notify.js";
import type { ServiceOptions } from "./service-options.js";

/** The endpoints and jobs of a site. */
export interface SiteServices extends Jobs {
  /** @param path - as `URL.pathname` has it; `null` where the site's own files answer */
  endpointAt(path: string): Endpoint | null;
  /** Tells the author of new mentions and messages, if there is something to tell now. */
  notifyAuthor(): Promise<void>;
  /** Ends the event streams of the inboxes, because other services take over: their readers connect again. */
  endStreams(): void;
}

export function siteServices(given: ServiceOptions): SiteServices {
  const streams = new AbortController();
  const endings = [streams.signal, ...(given.ending ? [given.ending] : [])];
  const options: ServiceOptions = {
    ...given,
    // What strangers send may end up in a message.
    log: (line) => given.log(oneLine(line, LOG_LENGTH)),
    ending: AbortSignal.any(endings),
  };
  const notifySoon = () => options.background(notifyAuthor());
  const mentions = mentionServices(options, notifySoon);
  const inbox = inboxServices(options, notifySoon);
  const blobs = blobServices(options);
  const notifyAuthor = authorNotifier(options, { received: mentions.received, inbox });
  const handlers = { health: healthHandler(options), ...mentions.handlers, ...inbox.handlers, ...blobs.handlers };
  return {
    ...jobsOf(options, { mentions, inbox, blobs, notifyAuthor }),
    endpointAt: endpointsOf(options.settings, handlers, options.log),
    notifyAuthor,
    endStreams: () => streams.abort(),
  };
}
