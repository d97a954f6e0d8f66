// plugin/host/mentions.ts: wires the mentions of a site.
import type { Handler } from "../http/respond.js";
import { checkSecret } from "../http/secret.js";
import { later, once } from "../later.js";
import { DecisionLinks } from "../mentions/inform/decision-links.js";
import { listMentions } from "../mentions/inform/list-json.js";
import type { ListMentions } from "../mentions/mention.js";
import { Journal } from "../mentions/receive/journal.js";
import { BlockList, Moderation } from "../mentions/receive/moderation.js";
import { ReceivedMentions } from "../mentions/receive/received.js";
import { SiteIndex } from "../mentions/receive/site-index.js";
import { deletedTwt } from "../site/conversation.js";
import { listCapabilities, type RouteName, readPrefix } from "../site/routes.js";
import type { Handlers } from "./endpoints.js";
import { MENTIONS_TOKEN, MODERATION_SECRET, readValue, type ServiceOptions } from "./service-options.js";
import { signedReader } from "./signed-reader.js";
import { attempt, purgeTag } from "./work.js";

const verifier = later(() => import("./verification.js"));
const manager = later(() => import("../mentions/receive/manage.js"));
const answerWiring = later(() => import("./answers.js"));
const commentWiring = later(() => import("./comments.js"));
const decider = later(() => import("../mentions/receive/decision-page.js"));
const networkWiring = later(() => import("./networks.js"));
const feedWriter = later(() => import("../mentions/inform/mentions-feed.js"));
const atomWriter = later(() => import("../mentions/inform/atom.js"));

/** Of the public lists. */
export const CACHE_TAG = "twtxt-mentions";
export const OLD_LIST = "the old list of mentions";

export type MentionServices = ReturnType<typeof mentionServices>;

/**
 * The handlers for mentions, and what the jobs need.
 *
 * @param onStored - called when a mention was stored that is new or has changed
 */
export function mentionServices(options: ServiceOptions, onStored: () => void) {
  const siteIndex = new SiteIndex(options.pages, options.settings.url + readPrefix(options.settings));
  const { received, list } = storedMentions(options, siteIndex);
  const moderation = new Moderation(options.settings.mentions, new BlockList(options));
  const verification = once(async () => {
    const { mentionVerification } = await verifier();
    return mentionVerification(options, { siteIndex, received, moderation, onStored });
  });
  const { readSyndication, readThreads } = postCopies(options, { received, moderation, onStored });
  const management = once(async () => {
    const { manageMentions } = await manager();
    const services = await verification();
    const { now, settings } = options;
    const guestFeeds = listCapabilities(settings).includes("comments") ? settings.urls.guestFeeds : null;
    const parts = { ...services, readSigned: signedReader(options), received, moderation, siteIndex, guestFeeds, now };
    return manageMentions({ ...parts, readThreads: async (isOver) => (await readThreads?.("recent", isOver)) ?? 0 });
  });
  const answers = once(async () => (await answerWiring()).answerServices(options, received));
  const comments = once(async () => {
    const { commentServices } = await commentWiring();
    return commentServices(options, { siteIndex, received, moderation, cacheTag: CACHE_TAG, onStored, answers });
  });
  const feed = once(() => privateFeed(options, received));
  const links = decisionLinks(options);
  const atom = once(async () => {
    const { listAsAtom } = await atomWriter();
    return listAsAtom({ list, siteIndex, settings: options.settings, cacheTag: CACHE_TAG });
  });
  const handlers: Handlers = {
    webmention: deferHandler(async () => (await verification()).receive),
    mentionsJson: listMentions({ list, siteIndex, cacheTag: CACHE_TAG, readSyndication }),
    mentionsAtom: deferHandler(atom),
    mentionsFeed: deferHandler(feed),
    decision: deferHandler(async () => (await decider()).decisionPage({ links, received, moderation, siteIndex })),
    ...deferHandlers(["comments", "comment", "guestFeed"], async () => (await comments()).handlers),
    ...deferHandlers(["answers", "answerLink"], async () => (await answers()).handlers),
    ...deferHandlers(["mentions", "verifyMentions", "importMentions", "mention"], management),
  };

  return {
    siteIndex,
    received,
    /** `null` for a site without copies of posts. Loaded when it is first needed. */
    readThreads,
    /** Loaded when it is first needed. */
    comments,
    /** Loaded when it is first needed. */
    answers,
    links,
    /** Loaded when it is first needed, because the guard and the HTML parser are most of the code. */
    verification,
    handlers,
  };
}

type ThreadParts = Parameters<Awaited<ReturnType<typeof networkWiring>>["threadReader"]>[1];

/** What the site knows about copies of its posts on other networks, loaded when it is first needed. */
function postCopies(options: ServiceOptions, parts: ThreadParts) {
  const { twts } = options.pages;
  const postsCopies = twts.some(({ copy }) => copy);
  const hasCopies = options.settings.isReceiver && (postsCopies || twts.some(({ syndication }) => syndication));
  const threads = once(async () => (await networkWiring()).threadReader(options, parts));
  /** Reads the answers to them. @returns how many threads were read */
  const readThreads = async (which: "due" | "recent", isOver: () => boolean) => (await threads())(which, isOver);
  const readSyndication = async () => (await networkWiring()).listPostedUrls(options.store);
  return { readSyndication: postsCopies ? readSyndication : undefined, readThreads: hasCopies ? readThreads : null };
}

/** A handler that is made when it is needed. @param make - returns the same one each time, if making it is expensive */
function deferHandler(make: () => Promise<Handler>): Handler {
  return async (request, asked) => (await make())(request, asked);
}

/** Handlers that are made together when one of them is needed. */
function deferHandlers<Name extends RouteName>(names: readonly Name[], make: () => Promise<Record<Name, Handler>>) {
  return Object.fromEntries(names.map((name) => [name, deferHandler(async () => (await make())[name])]));
}

/**
 * The received mentions, and the public list. Each change purges the list from the CDN. Changes and readers compact the
 * journal, because every read takes time for the events since the last snapshot, also for those of another process.
 */
function storedMentions(options: ServiceOptions, siteIndex: SiteIndex) {
  const { settings, pages, store, now, log, background } = options;
  const { shownPerHost } = settings.mentions.limits;
  const twts = [...pages.twts, ...(pages.deleted ?? []).map(deletedTwt)];
  const journal = new Journal({ store, now, shownPerHost, log, twts, currentUrl: (url) => siteIndex.currentUrl(url) });
  const compactSoon = () => background(attempt("Compacting the list of mentions", journal.compactIfLong, log));
  const received = new ReceivedMentions({
    journal,
    now,
    async onChange() {
      compactSoon();
      await purgeTag(options, CACHE_TAG, OLD_LIST);
    },
  });
  const list: ListMentions = async (query) => {
    const page = await received.list(query);
    compactSoon();
    return page;
  };
  return { received, list };
}

/** @returns `null` without a secret, and for a weak one, which is logged */
function decisionLinks({ settings, environment, now, log }: ServiceOptions): DecisionLinks | null {
  const secret = readValue(environment, MODERATION_SECRET);
  if (secret === undefined || !checkSecret(MODERATION_SECRET, secret, "Links that decide about a mention are", log)) {
    return null;
  }
  return new DecisionLinks({ secret, base: settings.urls.decisions, now });
}

async function privateFeed({ settings, environment, log }: ServiceOptions, { list }: ReceivedMentions) {
  const { mentionsFeed } = await feedWriter();
  const token = readValue(environment, MENTIONS_TOKEN);
  return mentionsFeed({ list, token, nick: settings.nick, url: settings.urls.mentionsFeed, log });
}
