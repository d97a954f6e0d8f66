// plugin/host/networks.ts: wires what is read on other networks. PROTOCOL 2.7
import { readMastodonAccount } from "../mentions/networks/account-variables.js";
import { readPostedCopies } from "../mentions/networks/network-records.js";
import { parseCopy } from "../mentions/networks/parse-copy.js";
import { type PostCopy, type ReaderParts, readThreads } from "../mentions/networks/read-threads.js";
import type { Store } from "../store/store.js";
import type { ServiceOptions } from "./service-options.js";
import { siteGuard } from "./site-guard.js";

export function threadReader(
  options: ServiceOptions,
  receiver: Pick<ReaderParts, "received" | "moderation" | "onStored">,
) {
  const { settings, store, environment, now, log } = options;
  const account = readMastodonAccount(environment);
  const reader = {
    ...receiver,
    ...{ store, now, log, ask: siteGuard(options) },
    isUnlistedWanted: settings.mentions.unlisted,
    findToken: (server: string) => (server === account?.server ? account.token : undefined),
  };
  return async (which: "due" | "recent", isOver: () => boolean) =>
    readThreads({ ...reader, copies: await listCopies(options) }, which, isOver);
}

/** The copies that front matter names, and those that the site has posted. */
async function listCopies({ pages, store }: ServiceOptions): Promise<Map<string, PostCopy>> {
  const named = pages.twts.flatMap(({ page, syndication = [] }) =>
    page === null ? [] : syndication.map((url) => ({ page, url, copy: parseCopy(url) })),
  );
  const posted = Object.entries(await readPostedCopies(store)).flatMap(([page, copies]) =>
    copies.map((copy) => ({ page, url: copy.url, copy })),
  );
  return new Map([...named, ...posted].map((one) => [`${one.url} ${one.page}`, one]));
}

/** The URLs of the copies that the site has posted, by page. */
export async function listPostedUrls(store: Store): Promise<Record<string, string[]>> {
  const copies = Object.entries(await readPostedCopies(store));
  return Object.fromEntries(copies.map(([page, all]) => [page, all.map(({ url }) => url)]));
}
