// plugin/host/mentions.ts: wires the mentions of a site.
import { type Log, readBody } from "../http/respond.js";
import { listMentions } from "../mentions/inform/list-json.js";
import type { ListMentions } from "../mentions/mention.js";
import { Journal } from "../mentions/receive/journal.js";
import { ReceivedMentions } from "../mentions/receive/received.js";
import { SiteIndex } from "../mentions/receive/site-index.js";
import type { Handlers } from "./endpoints.js";
import type { ServiceOptions } from "./service-options.js";
import type { Verification } from "./verification.js";
import { attempt, once } from "./work.js";

const CACHE_TAG = "twtxt-mentions";

/** What a host runs for the mentions of a site. */
export interface MentionServices {
  handlers: Handlers;
  siteIndex: SiteIndex;
  received: ReceivedMentions;
  /** Loaded when it is first needed: the guard and the parser of HTML are most of the code. */
  verification(): Promise<Verification>;
}

/** @param onStored - called when a mention was stored that is new or has changed */
export function mentionServices(options: ServiceOptions, onStored: () => void): MentionServices {
  const { settings, pages, store, secrets, now, log } = options;
  const siteIndex = new SiteIndex(pages);
  const compactSoon = () =>
    options.background(attempt("Compacting the list of mentions", received.journal.compactIfLong, log));
  const received = new ReceivedMentions({
    journal: new Journal({ store, now, shownPerHost: settings.mentions.limits.shownPerHost, log }),
    now,
    async onChange() {
      compactSoon();
      await purgeLists(options.purge, log);
    },
  });
  /** Also folds what another process has stored: each read of the list reads all events that are not folded. */
  const list: ListMentions = async (query) => {
    const page = await received.list(query);
    compactSoon();
    return page;
  };
  const verification = once(async () => {
    const { mentionVerification } = await import("./verification.js");
    return mentionVerification(options, { siteIndex, received, onStored });
  });
  const managing = once(async () => {
    const { manageMentions } = await import("../mentions/receive/manage.js");
    const { pending, moderation, verifyPending } = await verification();
    const readSigned = readerOfSigned(options);
    return manageMentions({ readSigned, received, pending, siteIndex, moderation, verifyPending, now });
  });

  const feed = once(async () => {
    const { mentionsFeed } = await import("../mentions/inform/mentions-feed.js");
    const { nick, urls } = settings;
    return mentionsFeed({ list: received.list, token: secrets.mentionsToken, nick, url: urls.mentionsFeed, log });
  });

  return {
    siteIndex,
    received,
    verification,
    handlers: {
      webmention: async (request, asked) => (await verification()).receive(request, asked),
      mentionsJson: listMentions({ list, siteIndex, cacheTag: CACHE_TAG }),
      mentionsFeed: async (request, asked) => (await feed())(request, asked),
      mentions: async (request, asked) => (await managing()).mentions(request, asked),
      verifyMentions: async (request, asked) => (await managing()).verify(request, asked),
      importMentions: async (request, asked) => (await managing()).import(request, asked),
      mention: async (request, asked) => (await managing()).mention(request, asked),
    },
  };
}

function readerOfSigned({ settings, authority, store, now }: ServiceOptions) {
  return async (request: Request, maxBytes: number) => {
    const { verifyRequest } = await import("../http/signature.js");
    const allowed = new Set(settings.authors.map(({ key }) => key));
    return (await verifyRequest(request, () => readBody(request, maxBytes), { authority, allowed, store, now })).body;
  };
}

async function purgeLists(purge: ServiceOptions["purge"], log: Log): Promise<void> {
  await purge?.(CACHE_TAG).catch((error) => log(`The CDN still serves the old list of mentions: ${error.message}`));
}
