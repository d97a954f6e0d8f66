// plugin/host/jobs.ts: the work of a site that no request asks for.
import type { Blobs } from "../blobs/serve/blobs.js";
import { sweepNonces } from "../http/nonces.js";
import { noteBuild, rebuildIfChanged } from "../mentions/inform/rebuild.js";
import type { Inboxes } from "../messages/inbox/inboxes.js";
import { attempt } from "./attempt.js";
import type { MentionServices } from "./mentions.js";
import { MentionSender } from "./sender.js";
import type { ServiceOptions } from "./service-options.js";

const SECOND_MS = 1000;
/** After a deploy another run may be at work, with the feed as it was: its lease ends within half a minute. */
const PATIENCE_MS = 60 * SECOND_MS;
/** The scheduled run starts nothing after this time, because Netlify ends a scheduled function after 30 s. PROTOCOL 6 */
const RUN_SECONDS = 20;

/** A job of the scheduled run. It starts nothing new once the given seconds of the run have passed. */
type Job = readonly [name: string, work: (isOver: () => boolean) => Promise<unknown>, seconds: number];

/** The work of a site. Failures are logged; the next run tries again. */
export interface Jobs {
  /** After a deploy: sends the mentions of new posts. */
  afterDeploy(): Promise<void>;
  /** Sends the mentions that are due, and those that an earlier run did not get to. */
  sendDue(): Promise<void>;
  /** Milliseconds until mentions are due again, at least a minute; `null` if none wait, or no run knows. */
  untilNextSend(): number | null;
  /** The scheduled run. */
  runScheduled(): Promise<void>;
}

export interface JobParts {
  mentions: MentionServices;
  inbox: Pick<Inboxes, "sweep">;
  blobs: Pick<Blobs, "sweep" | "forgetAgain">;
  notifyAuthor(): Promise<void>;
}

export function jobsOf(options: ServiceOptions, { mentions, inbox, blobs, notifyAuthor }: JobParts): Jobs {
  const { settings, store, secrets, now, log } = options;
  const { received, verification } = mentions;
  const sender = new MentionSender(options, mentions.siteIndex);

  const rebuild = async () => {
    const { list } = received;
    const { buildHookUrl: url } = secrets;
    if (url) await rebuildIfChanged({ list, store, now, url, fetch: options.fetch, ...settings.mentions.rebuild, log });
  };
  const removeExpired = async (isOver: () => boolean) => {
    await (await verification()).sweep();
    await sweepNonces(store, now(), isOver);
    await inbox.sweep(isOver);
    await blobs.sweep(isOver);
  };
  const purgeBlobs = async (isOver: () => boolean) => {
    if (settings.blobs && options.purge) await blobs.forgetAgain(isOver);
  };

  const sending: Job = ["Sending mentions", (isOver) => sender.send(isOver, 0), RUN_SECONDS];
  const scheduled: readonly Job[] = [
    sending,
    ["Verifying mentions", async (isOver) => (await verification()).verifyPending("due", isOver), RUN_SECONDS],
    ["Tidying the list of mentions", () => received.journal.compact(), RUN_SECONDS],
    ["Notifying you", notifyAuthor, RUN_SECONDS],
    ["Asking for a rebuild", rebuild, RUN_SECONDS],
    ["Clearing the CDN", purgeBlobs, RUN_SECONDS],
    ["Removing what has expired", removeExpired, RUN_SECONDS],
  ];

  const run = async (jobs: readonly Job[]) => {
    if (!options.isLive) return;
    const start = now();
    for (const [name, work, seconds] of jobs) {
      const isOver = () => now() >= start + seconds * SECOND_MS;
      if (!isOver()) await attempt(name, () => work(isOver), log);
    }
  };

  return {
    untilNextSend: () => sender.untilNext(),
    sendDue: () => run([sending]),
    runScheduled: () => run(scheduled),
    async afterDeploy() {
      if (!options.isLive) return;
      await attempt("Sending mentions", () => sender.send(() => false, PATIENCE_MS), log);
      if (secrets.buildHookUrl) {
        await attempt("Remembering this build", () => noteBuild({ list: received.list, store }), log);
      }
    },
  };
}
