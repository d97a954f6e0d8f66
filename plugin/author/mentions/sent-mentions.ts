// plugin/author/mentions/sent-mentions.ts: the mentions that the author's site sent: as the site tells them, or else as far as this machine knows, and in words.
import { ifTwtxtError, type TwtxtError } from "../../errors.js";
import { LedgerList } from "../../mentions/send/ledger.js";
import { type LedgerCounts, type LedgerEntry, LedgerPage, OUTCOMES } from "../../mentions/send/ledger-records.js";
import type { MentionReport } from "../../mentions/send/send-mention.js";
import { SiteState } from "../../site/site-state.js";
import type { Store } from "../../store/store.js";
import { counted, listed } from "../amounts.js";
import type { Machine } from "../machine.js";
import { openSiteApi, parseAnswer, readPages, type SiteApiChoice } from "../own-site.js";
import { loadSite, publishedSite } from "../site.js";

/** A mention of a run, or of the ledger, with the time and the number of attempts. */
export type ReportedMention = Omit<MentionReport, "kind" | "method" | "status" | "outcome"> &
  Partial<Pick<MentionReport, "method">> &
  Partial<Pick<LedgerEntry, "at" | "attempts">> & {
    kind?: MentionReport["kind"] | undefined;
    outcome: MentionReport["outcome"] | LedgerEntry["outcome"];
  };

type Outcome = ReportedMention["outcome"];

/** The outcomes in the order of a summary, with their words after a number. */
const OUTCOME_WORDS: readonly (readonly [Outcome, string])[] = [
  ["would be sent", "to send"],
  ["sent", "sent"],
  ["waiting", "waiting"],
  ["retry", "to be retried"],
  ["failed", "failed"],
  ["withdrawn", "withdrawn"],
  ["no-endpoint", "without an endpoint"],
  ["not-asked", "not requested"],
];

/** @example sumOutcomes({ sent: 2, failed: 1 }) // "2 sent, 1 failed" */
export function sumOutcomes(counts: Partial<Record<Outcome, number>>): string {
  return listed(OUTCOME_WORDS.map(([outcome, words]) => [counts[outcome] ?? 0, words]));
}

const PLACES: Readonly<Record<NonNullable<MentionReport["method"]>, string>> = {
  "feed field": "named in the feed",
  "Link header": "named in a Link header",
  HTML: "named in the page",
};

export function endpointText(endpoint: string, method: MentionReport["method"] | undefined): string {
  return method ? `${endpoint} (${PLACES[method]})` : endpoint;
}

/**
 * The result of a mention, in words.
 *
 * @param dateText - writes a time of the form `2026-11-22T22:49:00.000Z`
 */
export function describeOutcome(
  mention: ReportedMention,
  dateText = (date: string) => `${date.slice(0, 16)}Z`,
): string {
  const { kind, outcome, endpoint, method, why, at, attempts, next } = mention;
  const change = kind === "gone" ? ", as deleted" : kind === "changed" ? ", as changed" : "";
  const date = at ? ` ${dateText(at)}` : "";
  const place = endpoint === null ? null : endpointText(endpoint, method);
  const where = place === null ? "" : ` at ${place}`;
  const again = next === null ? "" : `; next attempt after ${dateText(next)}`;
  switch (outcome) {
    case "sent":
    case "would be sent":
      return `${outcome}${date} to ${place}${change}${why === null ? "" : ` ${why}`}`;
    case "withdrawn":
      return `removed, told${date}${where}`;
    case "failed":
      return `failed${date}${where}: ${why}`;
    case "retry":
      return `not sent yet${where}: ${why}${again}`;
    case "waiting":
      if (attempts === undefined) return again.slice(2) || "left to the next run";
      return attempts
        ? `waiting, ${counted(attempts, "attempt")}${where}: ${why ?? "no answer"}${again}`
        : `waiting, not tried yet${again}`;
    case "not-asked":
      return `${why}${again}`;
    case "no-endpoint":
      return why?.startsWith("no endpoint") ? why : `no endpoint: ${why}`;
  }
}

/** Longer than a function takes to start. A page of the client waits for it. */
const IDLE_TIMEOUT_MS = 8000;
const PAGE = 100;

export interface SentMentions {
  counts: LedgerCounts;
  /** Those that wait first, then the newest. */
  mentions: LedgerEntry[];
}

/** @param most - how many mentions to read */
export async function readSentMentions(store: Store, feedUrl: string, most: number): Promise<SentMentions> {
  const ledger = new LedgerList(store, feedUrl);
  const mentions = await readPages((after, limit) => ledger.page({ after, limit }), { perPage: PAGE, most });
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
  const askSite = async () => {
    const { root, ask } = await openSiteApi("siteApi", choice, machine, { idleTimeoutMs: IDLE_TIMEOUT_MS });
    const get = async (path: string) => (await ask({ method: "GET", path })).json();
    const state = parseAnswer(SiteState, await get(""), root);
    const read = async (after: string | null, limit: number) => {
      const path = `/sent?limit=${limit}${after === null ? "" : `&after=${after}`}`;
      return parseAnswer(LedgerPage, await get(path), root);
    };
    const counts = OUTCOMES.flatMap((outcome) => (state.sent[outcome] ? [[outcome, state.sent[outcome]]] : []));
    const mentions = await readPages(read, { perPage: PAGE, most });
    return { state, sent: { counts: Object.fromEntries(counts), mentions } };
  };
  return askSite().catch(ifTwtxtError((error) => error));
}
