// plugin/host/site-host.ts: runs the endpoints and jobs of a site, and takes over each new build.
import { unwatchFile, watchFile } from "node:fs";
import type { Log } from "../http/respond.js";
import type { PublishedSite } from "../site/site.js";
import type { Endpoint } from "./endpoints.js";
import type { SiteServices } from "./site-services.js";

const HOUR_MS = 3600_000;
/** Milliseconds between checks for a new build. */
const LOOK_MS = 1000;

/** A site that is being served. */
export interface SiteHost {
  /** @param path - as `URL.pathname` has it; `null` where the site's own files answer */
  endpointAt(path: string): Endpoint | null;
  /** Works now, each hour, after each build, and when mentions are due again. */
  begin(): void;
  /** Starts nothing more and waits for running work. */
  end(): Promise<void>;
}

export interface SiteHostOptions {
  /** What the last build left. */
  site: PublishedSite;
  /** The file that each real build replaces. */
  file: string;
  /** Reads that file. */
  read(): Promise<PublishedSite>;
  make(site: PublishedSite): SiteServices;
  log: Log;
}

export function siteHost({ site, file, read, make, log }: SiteHostOptions): SiteHost {
  const everyMs = site.settings.mentions.everyHours * HOUR_MS;
  let services = make(site);
  let timer: NodeJS.Timeout | undefined;
  let sending: NodeJS.Timeout | undefined;
  let isEnding = false;
  let isBehind = false;
  let work = Promise.resolve();

  /** One thing after the other, and none the last for having failed. */
  const then = (job: () => Promise<void>) => {
    work = work
      .then(job)
      .catch((error) => log((error as Error).message))
      .then(sendLater);
  };

  /** A mention that failed is tried again when its next attempt is due, not with the next hourly work. */
  const sendLater = () => {
    clearTimeout(sending);
    const pause = services.untilNextSend();
    if (pause !== null && !isEnding) sending = setTimeout(() => then(() => services.sendDue()), pause);
  };

  const takeUp = async () => {
    try {
      const built = await read();
      const former = services;
      services = make(built);
      // A removed key must not go on reading, and new messages are announced elsewhere now.
      former.endStreams();
      if (isBehind) log("Serving the new build.");
      isBehind = false;
    } catch (error) {
      isBehind = true;
      log(`Still serving the previous build. ${(error as Error).message}`);
      return;
    }
    await services.afterDeploy();
  };

  return {
    endpointAt: (path) => services.endpointAt(path),
    begin() {
      then(() => services.runScheduled());
      timer = setInterval(() => then(() => services.runScheduled()), everyMs);
      watchFile(file, { interval: LOOK_MS }, () => then(takeUp));
    },
    async end() {
      isEnding = true;
      clearInterval(timer);
      clearTimeout(sending);
      unwatchFile(file);
      await work;
    },
  };
}
