// plugin/host/site-host.ts: runs a site on a server: its endpoints, its jobs and their timers, and each new build.
import { unwatchFile, watchFile } from "node:fs";
import type { Log } from "../http/respond.js";
import type { PublishedSite } from "../site/site.js";
import type { Endpoint } from "./endpoints.js";
import { pagePath } from "./site-files.js";
import type { SiteServices } from "./site-services.js";

const HOUR_MS = 3600_000;
/** Milliseconds between two rounds of reading the followed feeds, and the answers to new posts on other networks. */
const TIMELINE_MS = 15 * 60_000;
/** Milliseconds between two checks for a new build. */
const WATCH_MS = 1000;

interface SiteHostOptions {
  site: PublishedSite;
  /** The file that each real build replaces. */
  file: string;
  read(): Promise<PublishedSite>;
  make(site: PublishedSite): SiteServices;
  log: Log;
}

export class SiteHost {
  #services: SiteServices;
  #paths: ReturnType<typeof findSpecialPaths>;
  /** Starts the scheduled run. */
  #timer: NodeJS.Timeout | undefined;
  #timelineTimer: NodeJS.Timeout | undefined;
  /** Starts the next attempt to send mentions. */
  #sendTimer: NodeJS.Timeout | undefined;
  #isEnding = false;
  /** Whether the last new build could not be read. */
  #isOutdated = false;
  #work = Promise.resolve();

  constructor(private readonly options: SiteHostOptions) {
    this.#services = options.make(options.site);
    this.#paths = findSpecialPaths(options.site);
  }

  /** @param path - as `URL.pathname` has it; `null` where the site's own files answer */
  readonly findEndpoint = (path: string): Endpoint | null => this.#services.endpointAt(path);

  /** @param path - of a page, decoded, without `index.html` */
  readonly isDeleted = (path: string): boolean => this.#paths.deleted.has(path);

  /** @param path - as for {@link isDeleted} */
  readonly needsLinkHeader = (path: string): boolean => this.#paths.withoutHead.has(path);

  /** Runs the jobs now, every few hours, after each build, and when mentions are due again. Called again, it starts anew. */
  begin(): void {
    const { site, file } = this.options;
    this.#stopTimers();
    const runScheduled = () => this.#enqueue(() => this.#services.runScheduled());
    runScheduled();
    this.#timer = setInterval(runScheduled, site.settings.mentions.everyHours * HOUR_MS);
    this.#timelineTimer = setInterval(() => {
      this.#enqueue(() => this.#services.refreshTimeline());
      this.#enqueue(() => this.#services.readThreads());
    }, TIMELINE_MS);
    watchFile(file, { interval: WATCH_MS }, () => this.#enqueue(() => this.#loadBuild()));
  }

  /** Starts no further jobs, and waits for the running one. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#stopTimers();
    await this.#work;
  }

  #stopTimers(): void {
    clearInterval(this.#timer);
    clearInterval(this.#timelineTimer);
    clearTimeout(this.#sendTimer);
    unwatchFile(this.options.file);
  }

  /** Runs jobs one after the other. A failure is logged and does not stop the next one. */
  #enqueue(job: () => Promise<void>): void {
    this.#work = this.#work
      .then(job)
      .catch((error) => this.options.log((error as Error).message, { level: "error" }))
      .then(() => this.#sendLater());
  }

  /** A mention that failed is tried again when its next attempt is due, not only in the next scheduled run. */
  #sendLater(): void {
    clearTimeout(this.#sendTimer);
    const pause = this.#services.untilNextSend();
    if (pause === null || this.#isEnding) return;
    this.#sendTimer = setTimeout(() => this.#enqueue(() => this.#services.sendDue()), pause);
  }

  async #loadBuild(): Promise<void> {
    const { read, make, log } = this.options;
    try {
      const site = await read();
      const services = make(site);
      // Readers connect again: a removed key must not keep reading, and new messages are announced by the new services.
      this.#services.endStreams();
      this.#services = services;
      this.#paths = findSpecialPaths(site);
    } catch (error) {
      this.#isOutdated = true;
      log(`Still serving the previous build. ${(error as Error).message}`, { level: "error" });
      return;
    }
    if (this.#isOutdated) log("Serving the new build.");
    this.#isOutdated = false;
    await this.#services.afterDeploy();
  }
}

/** The paths of deleted posts, and of the pages without a `<link>` to the endpoint. */
function findSpecialPaths({ pages: { deleted = [], withoutHead = [] } }: PublishedSite) {
  const toPaths = (pages: readonly string[]) => new Set(pages.map((page) => pagePath(new URL(page).pathname)));
  return { deleted: toPaths(deleted.map(({ page }) => page)), withoutHead: toPaths(withoutHead) };
}
