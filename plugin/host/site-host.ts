// plugin/host/site-host.ts: a site as its last build left it: who answers for which path, and the work done by itself.
import { unwatchFile, watchFile } from "node:fs";
import type { HostSettings, SitePages } from "../eleventy/host-settings.js";
import type { Handler, Log } from "../http/respond.js";
import type { Services } from "./services.js";

const HOUR_MS = 3600_000;
/** How often it looks whether there was a build. */
const LOOK_MS = 1000;

/** The settings of a site for its host, and what of it can be mentioned. */
export interface HostFiles {
  settings: HostSettings;
  pages: SitePages;
}

/** A site that is being served. */
export interface SiteHost {
  /** @returns the handler of a path; `null` where the site's own files answer */
  route(path: string): Handler | null;
  /**
   * With what the rate limit counts what is posted there: mentions and messages each for themselves. `null` for the
   * author's signed requests, which are not limited. PROTOCOL 6
   */
  limitOf(path: string): "mention" | "inbox" | null;
  /** Works now, each hour, after each build, and when mentions are due again. */
  begin(): void;
  /** Begins nothing more, and waits for what is under way. */
  end(): Promise<void>;
}

export interface SiteHostOptions {
  /** What the last build has left. */
  files: HostFiles;
  /** The file that each build writes anew. */
  pagesFile: string;
  /** Reads what a build has left. */
  read(): Promise<HostFiles>;
  make(files: HostFiles): Services;
  log: Log;
}

export function siteHost({ files, pagesFile, read, make, log }: SiteHostOptions): SiteHost {
  let { settings } = files;
  let services = make(files);
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
      const files = await read();
      const former = services;
      services = make(files);
      settings = files.settings;
      // A key that the site knows no more must not go on reading, and new messages ring elsewhere now.
      former.endStreams();
      if (isBehind) log("The new build is served.");
      isBehind = false;
    } catch (error) {
      isBehind = true;
      log(`The build before is still in use. ${(error as Error).message}`);
      return;
    }
    await services.afterDeploy();
  };

  return {
    route: (path) => handlerOf(path, settings, services),
    limitOf: (path) => {
      if (isOfInbox(path, settings)) return "inbox";
      return path === pathOf(settings.urls.webmention) ? "mention" : null;
    },
    begin() {
      then(() => services.tick());
      timer = setInterval(() => then(() => services.tick()), settings.mentions.everyHours * HOUR_MS);
      watchFile(pagesFile, { interval: LOOK_MS }, () => then(takeUp));
    },
    async end() {
      isEnding = true;
      clearInterval(timer);
      clearTimeout(sending);
      unwatchFile(pagesFile);
      await work;
    },
  };
}

function handlerOf(path: string, settings: HostSettings, services: Services): Handler | null {
  if (isOfInbox(path, settings)) return services.inbox;
  if (settings.blobs !== null) {
    if (isAtOrBelow(path, settings.urls.blobs)) return services.ownBlobs;
    if (isAtOrBelow(path, settings.urls.shared)) return services.sharedBlobs;
  }
  return settings.isReceiver ? handlerOfMentions(path, settings.urls, services) : null;
}

function isOfInbox(path: string, { inbox, urls }: HostSettings): boolean {
  return inbox !== null && path.startsWith(`${pathOf(urls.inbox)}/`);
}

function handlerOfMentions(path: string, urls: HostSettings["urls"], services: Services): Handler | null {
  if (isAtOrBelow(path, urls.mentionsApi)) return services.manageMentions;
  switch (path) {
    case pathOf(urls.webmention):
      return services.receiveMention;
    case pathOf(urls.mentionsJson):
      return services.listMentions;
    case pathOf(urls.mentionsFeed):
      return services.mentionsFeed;
    default:
      return null;
  }
}

function isAtOrBelow(path: string, url: string): boolean {
  const top = pathOf(url);
  return path === top || path.startsWith(`${top}/`);
}

function pathOf(url: string): string {
  return new URL(url).pathname;
}
