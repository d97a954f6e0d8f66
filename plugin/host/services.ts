// plugin/host/services.ts: everything that a host runs, wired once.
import { setTimeout } from "node:timers/promises";
import type { Blobs } from "../blobs/serve/blobs.js";
import { TwtxtError } from "../errors.js";
import { createGuard } from "../http/guard.js";
import { LOG_LENGTH, oneLine } from "../http/one-line.js";
import { answering, bodyOf, type Handler, type Log } from "../http/respond.js";
import { coalesced } from "../mentions/coalesced.js";
import { listMentions } from "../mentions/inform/list-json.js";
import { mentionsFeed } from "../mentions/inform/mentions-feed.js";
import type { ListMentions } from "../mentions/mention.js";
import { allowance } from "../mentions/receive/allowance.js";
import { journal } from "../mentions/receive/journal.js";
import { moderation } from "../mentions/receive/moderate.js";
import { pendingMentions } from "../mentions/receive/pending.js";
import { receiveMention } from "../mentions/receive/receive.js";
import { receivedMentions } from "../mentions/receive/received.js";
import { settling } from "../mentions/receive/settle.js";
import { SiteIndex } from "../mentions/receive/site-index.js";
import { VerificationQueue } from "../mentions/receive/verification-queue.js";
import { verification } from "../mentions/verify/verify.js";
import type { InboxServices } from "./inbox-services.js";
import { canNotify } from "./secrets.js";
import { sentMentionLine } from "./sent-mention-line.js";
import type { ServiceOptions } from "./service-options.js";

/** Nothing is started any more after this long: a scheduled function ends after 30 s. PROTOCOL 6. */
const TICK_MS = 20_000;
/** After a deploy another run may be at work, with the feed as it was: its lease ends within half a minute. */
const PATIENCE_MS = 60_000;
const MINUTE_MS = 60_000;
const CACHE_TAG = "twtxt-mentions";

/** The handlers and jobs of a site. */
export interface Services {
  /** `/webmention` */
  receiveMention: Handler;
  /** `/mentions.json` */
  listMentions: Handler;
  /** `/mentions.txt`; 404 without a token */
  mentionsFeed: Handler;
  /** `/api/v1/mentions` and below */
  manageMentions: Handler;
  /** `/inbox/<user>` and below */
  inbox: Handler;
  /** `/api/v1/blob` and below */
  ownBlobs: Handler;
  /** Below `/shared` */
  sharedBlobs: Handler;
  /** Ends the streams of the inboxes, where other services take over: their readers connect again. */
  endStreams(): void;
  /** After a deploy: tells everybody whom new posts mention. */
  afterDeploy(): Promise<void>;
  /** Sends the mentions that are due, and what an earlier run did not get to. Starts nothing after 20 s. */
  sendDue(): Promise<void>;
  /** Milliseconds until mentions are due again, at least a minute; `null` where none wait, or no run knows. */
  untilNextSend(): number | null;
  /** Tells the author of new mentions and messages, if there is something to tell now. Called after each of them. */
  notifyAuthor(): Promise<void>;
  /** Every hour: retries, pending verifications, compaction, digest, rebuild. Starts nothing after 20 s. */
  tick(): Promise<void>;
}

/** Wires the parts. A function loads what it needs when it needs it; a server loads all of it first, see preload.ts. */
export function servicesOf(options: ServiceOptions): Services {
  const { settings, pages, store, secrets, now } = options;
  // What strangers send may end up in a message.
  const log: Log = (line) => options.log(oneLine(line, LOG_LENGTH));
  const { feedUrl, nick } = settings;
  const { limits, digestHours, rebuild } = settings.mentions;
  const siteIndex = new SiteIndex(pages);
  const lists = moderation(settings.mentions);
  const userAgent = `${options.client} (+${feedUrl}; @${nick})`;
  const ask = createGuard({ userAgent, ...options.guard });

  /** One job that fails is no reason to leave out the next. */
  const job = async (name: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      log(`${name} failed and is tried again within the hour: ${(error as Error).message}`);
    }
  };

  const tidyIfLong = () => options.background(job("Tidying the list of mentions", received.compactIfLong));
  const onChange = async () => {
    tidyIfLong();
    await options
      .purge?.(CACHE_TAG)
      .catch((error) => log(`The CDN still serves the old list of mentions: ${(error as Error).message}`));
  };
  const received = receivedMentions({
    journal: journal({ store, now, shownPerHost: limits.shownPerHost, log }),
    now,
    onChange,
  });
  const allowed = allowance({ store, now, limits, isMetered: options.isMetered, log });
  const pending = pendingMentions({ store, now, limits });
  const verify = verification({ ask, siteIndex, moderation: lists });
  const settle = settling({
    verify,
    queue: new VerificationQueue(),
    allowance: allowed,
    received,
    pending,
    moderation: lists,
    now,
    onKept: () => notifySoon(),
    log,
  });

  const verifying = async (which: "due" | "all", isOver: () => boolean) => {
    const { verifyPending } = await import("../mentions/receive/verify-pending.js");
    return verifyPending({ pending, settle, log })(which, isOver);
  };

  /** Also folds what another process has stored: each reading lists all events that are not folded. */
  const listTidied: ListMentions = async (query) => {
    const page = await received.list(query);
    tidyIfLong();
    return page;
  };

  const readSigned = async (request: Request, maxBytes: number) => {
    const { verifyRequest } = await import("../http/signature.js");
    const allowed = new Set(settings.authors.map(({ key }) => key));
    const terms = { authority: options.authority, allowed, store, now };
    return (await verifyRequest(request, () => bodyOf(request, maxBytes), terms)).body;
  };

  const streams = new AbortController();
  const ending = AbortSignal.any([streams.signal, ...(options.ending ? [options.ending] : [])]);
  const inboxesOf = once(async (): Promise<InboxServices> => {
    const { inboxServices } = await import("./inbox-services.js");
    return inboxServices({ ...options, ending, log, onStored: () => notifySoon() });
  });
  const blobsOf = once(async (): Promise<Blobs> => {
    const { blobServices } = await import("./blob-services.js");
    return blobServices({ ...options, log });
  });

  const manage = async (request: Request) => {
    const { manageMentions } = await import("../mentions/receive/manage.js");
    return manageMentions({
      readSigned,
      received,
      pending,
      siteIndex,
      moderation: lists,
      verifyPending: verifying,
      now,
    })(request);
  };

  let nextSend: number | null = null;
  const send = async (isOver: () => boolean, patience: number) => {
    const { nextDue, sendMentions } = await import("../mentions/send/send.js");
    const sending = sendMentions({
      ask,
      store,
      feedUrl,
      aliases: settings.mentions.aliases,
      pageOf: (timestamp) => siteIndex.pageOfTwt(timestamp),
      now,
      random: Math.random,
      sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }).catch(() => {}),
      isOver,
      patience,
      onMention: (mention) => log(sentMentionLine(mention)),
    });
    const report = await sending.catch((error: unknown) => {
      // A run that was killed keeps the lease for half a minute.
      const isBusy = error instanceof TwtxtError && error.code === "already-sending";
      nextSend = isBusy ? now() : null;
      throw error;
    });
    for (const trouble of report.troubles) log(`Sending mentions: ${trouble}`);
    nextSend = nextDue(report, now());
  };

  const inform = coalesced(async () => {
    const { informAuthor } = await import("../mentions/inform/digest.js");
    const { smtpMail } = await import("../mentions/inform/mail.js");
    const { webhook } = await import("../mentions/inform/webhook.js");
    const { smtpUrl, mailTo, webhookUrl } = secrets;
    await informAuthor({
      list: received.list,
      inboxes: async () => (await inboxesOf()).news(),
      store,
      now,
      mail: smtpUrl && mailTo ? smtpMail(smtpUrl, mailTo) : undefined,
      webhook: webhookUrl ? webhook(webhookUrl, options.fetch) : undefined,
      digestHours,
      page: settings.urls.mentionsPage ?? settings.url,
      log,
    });
  });

  const notifyAuthor = async () => {
    if (options.isLive && canNotify(secrets)) await job("Notifying you", inform);
  };
  const notifySoon = () => options.background(notifyAuthor());

  const rebuilding = async () => {
    if (!secrets.buildHookUrl) return;
    const { rebuildIfChanged } = await import("../mentions/inform/rebuild.js");
    await rebuildIfChanged({
      list: received.list,
      store,
      now,
      url: secrets.buildHookUrl,
      fetch: options.fetch,
      ...rebuild,
      log,
    });
  };

  const tidy = async (isOver: () => boolean) => {
    const { sweepNonces } = await import("../http/nonces.js");
    await allowed.sweep();
    await sweepNonces(store, now(), isOver);
    await (await inboxesOf()).sweep(isOver);
    await (await blobsOf()).sweep(isOver);
  };

  const telling = async (isOver: () => boolean) => {
    if (settings.blobs && options.purge) await (await blobsOf()).forgetAgain(isOver);
  };

  const budget = () => {
    const end = now() + TICK_MS;
    return () => now() >= end;
  };

  return {
    receiveMention: answering(receiveMention({ siteIndex, moderation: lists, settle, pending, feedUrl }), log),
    listMentions: answering(listMentions({ list: listTidied, siteIndex, cacheTag: CACHE_TAG }), log),
    mentionsFeed: answering(
      mentionsFeed({ list: received.list, token: secrets.mentionsToken, nick, url: settings.urls.mentionsFeed, log }),
      log,
    ),
    manageMentions: answering(manage, log),
    inbox: async (request, client) => (await inboxesOf()).inbox(request, client),
    ownBlobs: async (request) => (await blobsOf()).own(request),
    sharedBlobs: async (request) => (await blobsOf()).shared(request),
    endStreams: () => streams.abort(),

    async afterDeploy() {
      if (!options.isLive) return;
      await job("Sending mentions", () => send(() => false, PATIENCE_MS));
      if (secrets.buildHookUrl) {
        const { noteBuild } = await import("../mentions/inform/rebuild.js");
        await job("Remembering this build", () => noteBuild({ list: received.list, store }));
      }
    },

    async sendDue() {
      if (options.isLive) await job("Sending mentions", () => send(budget(), 0));
    },

    notifyAuthor,

    untilNextSend: () => nextSend && Math.max(nextSend - now(), MINUTE_MS),

    async tick() {
      if (!options.isLive) return;
      const isOver = budget();
      const jobs: [string, () => Promise<unknown>][] = [
        ["Sending mentions", () => send(isOver, 0)],
        ["Verifying mentions", () => verifying("due", isOver)],
        ["Tidying the list of mentions", () => received.compact()],
        ["Notifying you", notifyAuthor],
        ["Asking for a rebuild", rebuilding],
        ["Clearing the CDN", () => telling(isOver)],
        ["Removing what has expired", () => tidy(isOver)],
      ];
      for (const [name, work] of jobs) if (!isOver()) await job(name, work);
    },
  };
}

/** Makes a value at the first call and returns it at later ones. After a failure, the next call tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error) => {
      made = null;
      throw error;
    });
    return made;
  };
}
