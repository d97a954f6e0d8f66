// plugin/author/known-state.ts: the state of the author's site: as the site tells it, or else as far as this machine knows.
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import type { AskSite } from "../http/site-api.js";
import { LedgerList } from "../mentions/send/ledger-list.js";
import { type LedgerCounts, type LedgerEntry, LedgerPage, OUTCOMES } from "../mentions/send/ledger-records.js";
import { SiteState } from "../site/site-state.js";
import type { Store } from "../store/store.js";
import type { Machine } from "./machine.js";
import { openSiteApi, type SiteApiChoice } from "./own-site.js";
import { loadSite, publishedSite } from "./site.js";

/** Longer than a function takes to start. A page of the client waits for it. */
const IDLE_TIMEOUT_MS = 8000;

export interface SentMentions {
  counts: LedgerCounts;
  /** Those that wait first, then the newest. */
  mentions: LedgerEntry[];
}

/** @param most - how many mentions to read */
export async function readSentMentions(store: Store, feedUrl: string, most: number): Promise<SentMentions> {
  const ledger = new LedgerList(store, feedUrl);
  const mentions = await readPages((after, limit) => ledger.page({ after, limit }), most);
  return { counts: await ledger.count(), mentions };
}

/**
 * Asks the site about itself.
 *
 * @param most - how many mentions to read
 * @returns its state; why it could not be asked; `null` for a site on a static host, which has nothing to ask
 * @throws TwtxtError `no-settings`
 */
export async function askSiteState(
  choice: SiteApiChoice,
  machine: Machine,
  most: number,
): Promise<{ state: SiteState; sent: SentMentions } | TwtxtError | null> {
  const { settings } = await publishedSite(await loadSite(machine, choice.settings));
  if (!settings.hasEndpoints) return null;
  try {
    const { ask } = await openSiteApi("siteApi", choice, machine, { idleTimeoutMs: IDLE_TIMEOUT_MS });
    const state = await readAnswer(SiteState, ask, "");
    const read = (after: string | null, limit: number) =>
      readAnswer(LedgerPage, ask, `/sent?limit=${limit}${after === null ? "" : `&after=${after}`}`);
    const counts = OUTCOMES.flatMap((outcome) => (state.sent[outcome] ? [[outcome, state.sent[outcome]]] : []));
    return { state, sent: { counts: Object.fromEntries(counts), mentions: await readPages(read, most) } };
  } catch (error) {
    if (error instanceof TwtxtError) return error;
    throw error;
  }
}

const PAGE = 100;

async function readPages(
  read: (after: string | null, limit: number) => Promise<LedgerPage>,
  most: number,
): Promise<LedgerEntry[]> {
  const all: LedgerEntry[] = [];
  for (let after: string | null = null; ; ) {
    const { mentions, next } = await read(after, Math.min(PAGE, most - all.length));
    all.push(...mentions);
    // An empty page that has a next one would be asked for again without an end.
    if (next === null || all.length >= most || next === after) return all;
    after = next;
  }
}

/** @throws TwtxtError as {@link AskSite}, and `unreachable` for another answer */
async function readAnswer<T>(schema: v.GenericSchema<unknown, T>, ask: AskSite, path: string): Promise<T> {
  const answer = v.safeParse(schema, await (await ask({ method: "GET", path })).json());
  if (answer.success) return answer.output;
  throw new TwtxtError(
    "unreachable",
    "Another server answers there, or the site has another version: deploy the site.",
  );
}
