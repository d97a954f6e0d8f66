// plugin/host/networks.ts: wires what is read on other networks. PROTOCOL 2.7
import { ACCOUNT_VARIABLES } from "../mentions/networks/account-variables.js";
import { readPostedCopies } from "../mentions/networks/posted-copies.js";
import { type PostCopy, readThreads } from "../mentions/networks/read-threads.js";
import type { Moderation } from "../mentions/receive/moderation.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import type { SitePages } from "../site/site.js";
import type { Store } from "../store/store.js";
import { canParseUrl } from "../url.js";
import { readValue, type ServiceOptions } from "./service-options.js";
import { siteGuard } from "./site-guard.js";

interface ReaderParts {
  received: ReceivedMentions;
  moderation: Moderation;
  /** Called when a mention was stored that is new or has changed. */
  onStored(): void;
}

export function threadReader(options: ServiceOptions, parts: ReaderParts) {
  const { settings, pages, store, environment, now, log } = options;
  const [url, token] = ACCOUNT_VARIABLES.mastodon.map((name) => readValue(environment, name));
  const server = url !== undefined && canParseUrl(url) ? new URL(url).origin : null;
  const reader = {
    ...parts,
    ...{ store, now, log, ask: siteGuard(options) },
    isUnlistedWanted: settings.mentions.unlisted,
    findToken: (origin: string) => (origin === server ? token : undefined),
  };
  return async (which: "due" | "recent", isOver: () => boolean) => {
    const posted = await readPostedCopies(store);
    const own = Object.entries(posted).flatMap(([page, copies]) =>
      copies.map((posted) => ({ page, url: posted.url, posted })),
    );
    const all = [...listCopies(pages), ...own];
    const copies = [...new Map(all.map((copy) => [`${copy.url} ${copy.page}`, copy])).values()];
    return readThreads({ ...reader, copies }, which, isOver);
  };
}

/** The URLs of the copies that the site has posted, by page. */
export async function listPostedUrls(store: Store): Promise<Record<string, string[]>> {
  const copies = Object.entries(await readPostedCopies(store));
  return Object.fromEntries(copies.map(([page, all]) => [page, all.map(({ url }) => url)]));
}

export function listCopies({ twts }: SitePages): PostCopy[] {
  return twts.flatMap(({ page, syndication = [] }) => (page === null ? [] : syndication.map((url) => ({ page, url }))));
}
