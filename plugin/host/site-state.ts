// plugin/host/site-state.ts: answers its author about the state of the site, and about the mentions that it has sent.
import { json, parseLimit, parseParameters } from "../http/respond.js";
import { signedRoute } from "../http/signed-route.js";
import { FAULTS, readFaults } from "../mentions/networks/account-faults.js";
import { LedgerList } from "../mentions/send/ledger.js";
import { ROUTES } from "../site/routes.js";
import type { SiteState } from "../site/site-state.js";
import { parseEntry } from "../store/store.js";
import type { Handlers } from "./endpoints.js";
import type { ServiceOptions } from "./service-options.js";
import { signedReader } from "./signed-reader.js";

const PAGE = 100;

type Options = Pick<ServiceOptions, "settings" | "store" | "authority" | "client" | "now">;

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

/** Costs two listings of keys, and reads no values. */
async function siteState({ client, store }: Options, ledger: LedgerList): Promise<SiteState> {
  const [keys, sent] = [await store.keys(""), await ledger.count()];
  return {
    version: client.slice(client.indexOf("/") + 1),
    node: process.versions.node,
    values: keys.length,
    messages: sumEntries(keys.filter((key) => /^inbox\/[^/]+\/messages\//.test(key))),
    blobs: sumEntries(keys.filter((key) => key.startsWith("blobs/contents/"))),
    sent,
    ...(keys.includes(FAULTS) && { refused: await readFaults(store) }),
  };
}

function sumEntries(keys: readonly string[]): { count: number; bytes: number } {
  const sizes = keys.flatMap((key) => parseEntry(key)?.number ?? []);
  return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
