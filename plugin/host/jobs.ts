// plugin/host/jobs.ts: the work of a site that no request asks for.
import type { Blobs } from "../blobs/serve/blobs.js";
import { sweepNonces } from "../http/nonces.js";
import { noteBuild, rebuildIfChanged } from "../mentions/inform/rebuild.js";
import type { Inboxes } from "../messages/inbox/inboxes.js";
import type { MentionServices } from "./mentions.js";
import { MentionSender } from "./sender.js";
import { BUILD_HOOK_URL, type ServiceOptions, valueIn } from "./service-options.js";
import { attempt } from "./work.js";

/** After a deploy another run may still be sending from the old feed. Its lease ends within half a minute. */
const PATIENCE_MS = 60_000;
/** The scheduled run starts nothing after this time, because Netlify ends a scheduled function after 30 s. PROTOCOL 6 */
const RUN_MS = 20_000;

/** A job of the scheduled run. It starts nothing new once `isOver` returns true. */
type Job = readonly [name: string, work: (isOver: () => boolean) => Promise<unknown>];

/** The services that have jobs. */
export interface JobParts {
  mentions: MentionServices;
  timeline: { isOn: boolean; refresh(): Promise<void> };
  inbox: Pick<Inboxes, "sweep" | "news">;
  blobs: Pick<Blobs, "sweep" | "purgeAgain">;
  notifyAuthor(): Promise<void>;
}

/** The jobs of a site. Failures are logged; the next run tries again. */
export function jobsOf(options: ServiceOptions, parts: JobParts) {
  const { store, environment, now, log, isLive } = options;
  const { received, siteIndex } = parts.mentions;
  const sender = new MentionSender(options, siteIndex);
  const sending: Job = ["Sending mentions", (isOver) => sender.send(isOver, 0)];
  const timeline = timelineJobs(parts);
  const scheduled = [sending, ...scheduledJobs(options, parts), ...timeline];

  const run = async (jobs: readonly Job[]) => {
    if (!isLive) return;
    const end = now() + RUN_MS;
    const isOver = () => now() >= end;
    for (const [name, work] of jobs) {
      if (!isOver()) await attempt(name, () => work(isOver), log);
    }
  };

  return {
    untilNextSend: () => sender.untilNext(),
    /** Sends the mentions that are due, and those that an earlier run did not get to. */
    sendDue: () => run([sending]),
    runScheduled: () => run(scheduled),
    /** Reads the followed feeds, if the site has a timeline. */
    refreshTimeline: () => run(timeline),
    /** Sends the mentions of new posts. */
    async afterDeploy() {
      if (!isLive) return;
      await attempt("Sending mentions", () => sender.send(() => false, PATIENCE_MS), log);
      if (!valueIn(environment, BUILD_HOOK_URL)) return;
      await attempt("Recording this build", () => noteBuild({ list: received.list, store }), log);
    },
  };
}

function timelineJobs({ timeline }: Pick<JobParts, "timeline">): Job[] {
  return timeline.isOn ? [["Reading the followed feeds", () => timeline.refresh()]] : [];
}

/** The jobs of the scheduled run after sending, in order. */
function scheduledJobs(options: ServiceOptions, { mentions, inbox, blobs, notifyAuthor }: JobParts): Job[] {
  const { settings, store, now, log, fetch } = options;
  const { received, verification } = mentions;
  const rebuild = async () => {
    const url = valueIn(options.environment, BUILD_HOOK_URL);
    if (url) await rebuildIfChanged({ list: received.list, store, now, url, fetch, ...settings.mentions.rebuild, log });
  };
  const purgeBlobs = async (isOver: () => boolean) => {
    if (settings.blobs && options.purge) await blobs.purgeAgain(isOver);
  };
  const removeExpired = async (isOver: () => boolean) => {
    await (await verification()).sweep();
    await sweepNonces(store, now(), isOver);
    await inbox.sweep(isOver);
    await blobs.sweep(isOver);
  };
  return [
    ["Verifying mentions", async (isOver) => (await verification()).verifyPending("due", isOver)],
    ["Compacting the list of mentions", () => received.journal.compact()],
    ["Notifying you", notifyAuthor],
    ["Requesting a rebuild", rebuild],
    ["Purging blobs from the CDN", purgeBlobs],
    ["Removing expired data", removeExpired],
  ];
}
