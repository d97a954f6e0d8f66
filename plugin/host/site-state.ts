// plugin/host/site-state.ts: answers its author about the state of the site, and about the mentions that it has sent.
import { json, parseLimit, parseParameters } from "../http/respond.js";
import { signedRoute } from "../http/signed-route.js";
import { FAULTS, readFaults, readTroubles, THREAD_READINGS } from "../mentions/networks/network-records.js";
import { LedgerList } from "../mentions/send/ledger.js";
import { ROUTES } from "../site/routes.js";
import type { SiteState } from "../site/site-state.js";
import { parseEntry } from "../store/store.js";
import { listMissingAccounts } from "./copied-posts.js";
import type { Handlers } from "./endpoints.js";
import type { ServiceOptions } from "./service-options.js";
import { signedReader } from "./signed-reader.js";

const PAGE = 100;
const MAX_UNREAD = 20;

type Options = Pick<ServiceOptions, "settings" | "pages" | "store" | "environment" | "authority" | "client" | "now">;

/** The handlers of the routes below `/api/v1/site`. */
export function siteStateHandlers(options: Options): Handlers {
  const reader = { readSigned: signedReader(options), maxBytes: 0 };
  const ledger = new LedgerList(options.store, options.settings.feedUrl);
  return {
    siteState: signedRoute(ROUTES.siteState, reader, async ({ url }) => {
      parseParameters(url, []);
      return json(await siteState(options, ledger));
    }),
    sentMentions: signedRoute(ROUTES.sentMentions, reader, async ({ url }) => {
      const { after = null, limit } = parseParameters(url, ["after", "limit"]);
      return json(await ledger.page({ after, limit: parseLimit(limit, PAGE) }));
    }),
  };
}

/** Costs two listings of keys, and reads no values but those of a site with copies on other networks. */
async function siteState(options: Options, ledger: LedgerList): Promise<SiteState> {
  const { client, store } = options;
  const [keys, sent] = [await store.keys(""), await ledger.count()];
  const missing = listMissingAccounts(options).map(({ network, why }) => [network, why]);
  const refused = { ...(keys.includes(FAULTS) && (await readFaults(store))), ...Object.fromEntries(missing) };
  const unread = keys.includes(THREAD_READINGS) ? await readTroubles(store, MAX_UNREAD) : {};
  return {
    version: client.slice(client.indexOf("/") + 1),
    node: process.versions.node,
    values: keys.length,
    messages: sumEntries(keys.filter((key) => /^inbox\/[^/]+\/messages\//.test(key))),
    blobs: sumEntries(keys.filter((key) => key.startsWith("blobs/contents/"))),
    sent,
    ...(Object.keys(refused).length > 0 && { refused }),
    ...(Object.keys(unread).length > 0 && { unread }),
  };
}

function sumEntries(keys: readonly string[]): { count: number; bytes: number } {
  const sizes = keys.flatMap((key) => parseEntry(key)?.number ?? []);
  return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
