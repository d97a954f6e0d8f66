// plugin/host/jobs.ts: the jobs of a site: its work that no request starts.
import type { Blobs } from "../blobs/serve/blobs.js";
import type { JobRun } from "../clock.js";
import { ifTwtxtError } from "../errors.js";
import type { KeptFeed } from "../http/followed-feeds.js";
import { sweepNonces } from "../http/nonces.js";
import { noteBuild, rebuildIfChanged } from "../mentions/inform/rebuild.js";
import type { SiteIndex } from "../mentions/receive/site-index.js";
import { nextDue, sendMentions } from "../mentions/send/send.js";
import type { FindTwt, MentionReport } from "../mentions/send/send-mention.js";
import { siteLinks } from "../mentions/send/site-links.js";
import type { Inboxes } from "../messages/inbox/inboxes.js";
import { NETWORK_NAMES } from "../options/syndicate.js";
import { readAliases } from "../site/aliases.js";
import { listCapabilities } from "../site/routes.js";
import { sleep } from "../store/retry.js";
import { findLoopbackHost } from "../url.js";
import { copiedPosts } from "./copied-posts.js";
import { twtFinder } from "./known-twts.js";
import { CACHE_TAG, type MentionServices, OLD_LIST } from "./mentions.js";
import { type Job, runJob, runJobs } from "./run-jobs.js";
import { BUILD_HOOK_URL, readValue, type ServiceOptions } from "./service-options.js";
import { siteGuard } from "./site-guard.js";
import { attempt, purgeTag } from "./work.js";

const MINUTE_MS = 60_000;
/** After a deploy another run may still be sending from the old feed. Its lease ends within half a minute. */
const PATIENCE_MS = 60_000;

export interface JobParts {
  mentions: MentionServices;
  timeline: { refresh(): Promise<void>; keptFeeds(): Promise<KeptFeed[]> };
  inbox: Pick<Inboxes, "sweep" | "news">;
  blobs: Pick<Blobs, "sweep" | "purgeAgain">;
  notifyAuthor(): Promise<void>;
}

/** The jobs of a site. Failures are logged; the next run tries again. */
export function createJobs(options: ServiceOptions, parts: JobParts) {
  const { settings, store, environment, now, log, isLive } = options;
  const { received, siteIndex } = parts.mentions;
  const findTwt = twtFinder(received, parts.timeline.keptFeeds);
  const sender = mentionSender(options, { siteIndex, findTwt });
  const sending: Job = { name: "Sending mentions", work: ({ isOver }) => sender.send(isOver, 0) };
  const timeline: Job = { name: "Reading the followed feeds", work: () => parts.timeline.refresh() };
  const timelines = settings.timeline ? [timeline] : [];
  const { verification, readThreads } = parts.mentions;
  const threads: Job | null = readThreads && {
    name: "Reading answers on other networks",
    work: ({ isOver }) => readThreads("due", isOver),
  };
  // Last, because the sources of strangers may use up the time that the other jobs leave.
  const verifying: Job = {
    name: "Verifying mentions",
    work: async (run) => (await verification()).claims.verifyPending("due", run),
  };
  const scheduled = [sending, ...scheduledJobs(options, parts), ...timelines, ...(threads ? [threads] : []), verifying];
  const runOptions = { store, now, log, onJob: options.onJob, memory: { last: null } };
  const runAlone = async (job: Job) => {
    if (isLive) await runJob(job, runOptions);
  };

  return {
    untilNextSend: () => sender.untilNext(),
    /** Sends the mentions that are due, and those that an earlier run did not get to. */
    sendDue: () => runAlone(sending),
    async runScheduled() {
      if (!isLive) return;
      const run = () => runJobs(scheduled, runOptions);
      await (store.shareListing?.(run) ?? run());
    },
    /** Reads the followed feeds, if the site has a timeline. */
    async refreshTimeline() {
      if (settings.timeline) await runAlone(timeline);
    },
    /** Reads the threads that are due, if a post has copies on other networks. */
    async readThreads() {
      if (threads) await runAlone(threads);
    },
    async afterDeploy() {
      if (!isLive) return;
      await attempt("Sending mentions", () => sender.send(() => false, PATIENCE_MS), log);
      if (!readValue(environment, BUILD_HOOK_URL)) return;
      await attempt("Recording this build", () => noteBuild({ list: received.list, store }), log);
    },
  };
}

/** The jobs of the scheduled run that wait for no stranger, in order. */
function scheduledJobs(options: ServiceOptions, { mentions, inbox, blobs, notifyAuthor }: JobParts): Job[] {
  const { settings, store, now, isMetered, log } = options;
  const { received } = mentions;
  const rebuild = async () => {
    const url = readValue(options.environment, BUILD_HOOK_URL);
    if (!url) return;
    await rebuildIfChanged({ list: received.list, store, now, url, ...settings.mentions.rebuild, isMetered, log });
  };
  const purgeBlobs = async ({ isOver }: JobRun) => {
    if (settings.blobs && options.purge) await blobs.purgeAgain(isOver);
  };
  const removingCommenters: Job = {
    name: "Removing records of commenters",
    isRemoval: true,
    work: async ({ isOver }) => (await mentions.comments()).sweep(isOver),
  };
  const telling: Job = { name: "Telling readers of answers", work: async (run) => (await mentions.answers()).run(run) };
  const capabilities = listCapabilities(settings);
  return [
    { name: "Compacting the list of mentions", work: () => received.journal.compact() },
    { name: "Notifying you", work: notifyAuthor },
    ...(capabilities.includes("answers") ? [telling] : []),
    { name: "Requesting a rebuild", work: rebuild },
    { name: "Purging blobs from the CDN", work: purgeBlobs },
    ...(capabilities.includes("comments") ? [removingCommenters] : []),
    { name: "Removing used nonces", isRemoval: true, work: ({ isOver }) => sweepNonces(store, now(), isOver) },
    { name: "Removing expired messages", isRemoval: true, work: (run) => inbox.sweep(run) },
    { name: "Removing unused contents of blobs", isRemoval: true, work: ({ isOver }) => blobs.sweep(isOver) },
  ];
}

/** Sends the mentions of new posts, and knows when to send again. */
function mentionSender(options: ServiceOptions, parts: { siteIndex: SiteIndex; findTwt: FindTwt }) {
  const { settings, pages, store, guard, now, log } = options;
  const ask = siteGuard(options);
  let next: number | null = null;
  const memory = { released: null };

  return {
    /** Milliseconds until mentions are due again, at least a minute; `null` if none wait or none was sent yet. */
    untilNext: () => next && Math.max(next - now(), MINUTE_MS),

    /**
     * @param isOver - nothing new is started once it returns true
     * @param patience - milliseconds to wait for another run that is sending
     * @throws errors of reading the feed and the ledger
     */
    async send(isOver: () => boolean, patience: number): Promise<void> {
      next = null;
      const sending = sendMentions({
        ...{ ask, store, now, sleep, random: Math.random, memory, isOver, patience },
        allowedHosts: guard.allowPrivateHosts,
        feedUrl: settings.feedUrl,
        aliases: readAliases(settings.mentions.aliases, settings.feedUrl).feeds,
        guestFeeds: settings.urls.guestFeeds,
        links: siteLinks({ settings, pages }),
        findPage: (timestamp) => parts.siteIndex.pageOfTwt(timestamp),
        findTwt: parts.findTwt,
        copies: await copiedPosts(options, ask),
        onMention(mention) {
          // Most pages on the web have no endpoint.
          if (!mention.isLink || mention.outcome !== "no-endpoint") log(sentMentionLine(mention));
        },
      });
      const report = await sending.catch(ifTwtxtError(() => null, "already-sending"));
      // A run that was killed keeps the lease for half a minute.
      next = report === null ? now() : nextDue(report, now());
      if (report === null) return log("Another run is sending mentions. This one leaves them to it.");
      // The next build reads the copies in the public list.
      const hasCopy = report.mentions.some(({ network, outcome }) => network && outcome === "sent");
      if (hasCopy) await purgeTag(options, CACHE_TAG, OLD_LIST);
      for (const trouble of report.troubles) log(`Sending mentions: ${trouble}`, { level: "warn" });
    },
  };
}

/**
 * The log line about a sent mention.
 *
 * @example "Mention of https://bob.example/twtxt.txt in your twt of 2026-11-20T09:30:00Z: sent to https://bob.example/webmention"
 */
export function sentMentionLine(report: MentionReport): string {
  const { kind, outcome, timestamp, target, isLink, network, endpoint, why, next } = report;
  const subject = network
    ? `Copy of your post of ${timestamp} for ${NETWORK_NAMES[network]}`
    : isLink
      ? `Link to ${target} in your post of ${timestamp}`
      : `Mention of ${target} in your twt of ${timestamp}`;
  const mention = kind === "gone" ? `${subject}, now removed` : subject;
  const where = endpoint === null ? "" : ` to ${endpoint}`;
  switch (outcome) {
    case "sent":
      return `${mention}: sent${where}${why === null ? "" : ` ${why}`}`;
    case "retry":
    case "waiting":
      return `${mention}: not sent yet${why === null ? "" : ` (${why})`}${next === null ? "" : `; next attempt after ${next.slice(0, 16)}Z`}`;
    case "failed":
      return `${mention}: could not be sent${where} (${why})`;
    case "not-asked": {
      // A second blog on this machine. On the web, nobody wants such a host to be asked.
      const [host] = findLoopbackHost(endpoint ?? target);
      return `${mention}: not sent (${why})${host === undefined ? "" : `; to allow it: serve --allow-private-host ${host}`}`;
    }
    default:
      return `${mention}: not sent (${why})`;
  }
}
