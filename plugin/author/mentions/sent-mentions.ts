// plugin/author/mentions/sent-mentions.ts: the results of the mentions that the author's site sent, and of those that wait.
import { setTimeout } from "node:timers/promises";
import { MentionLedger } from "../../mentions/send/ledger.js";
import type { LedgerEntry } from "../../mentions/send/ledger-records.js";
import type { MentionReport } from "../../mentions/send/send-mention.js";
import type { Store } from "../../store/store.js";
import { counted } from "../amounts.js";

/** The mentions that the ledger of a feed records. */
export async function sentMentions(store: Store, feedUrl: string) {
  return (await new MentionLedger({ store, feedUrl, sleep: setTimeout }).list()).map(withDates);
}

function withDates({ at, next, ...mention }: LedgerEntry) {
  const dateOf = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  return { ...mention, at: dateOf(at), next: dateOf(next) };
}

/** A mention of a run, or of the ledger, with the time and the number of attempts. */
export type ReportedMention = Omit<MentionReport, "kind" | "method" | "status"> &
  Partial<Pick<MentionReport, "kind" | "method">> &
  Partial<Pick<ReturnType<typeof withDates>, "at" | "attempts">>;

const PLACES: Readonly<Record<NonNullable<MentionReport["method"]>, string>> = {
  "feed field": "named in the feed",
  "Link header": "named in a Link header",
  HTML: "named in the page",
};

/** An endpoint, and where it was found. */
export function endpointText(endpoint: string, method: MentionReport["method"] | undefined): string {
  return method ? `${endpoint} (${PLACES[method]})` : endpoint;
}

/**
 * The result of a mention, in words.
 *
 * @param dateText - writes a time of the form `2026-11-22T22:49:00.000Z`
 */
export function outcomeOf(mention: ReportedMention, dateText: (date: string) => string = minuteOf): string {
  const { kind, outcome, endpoint, method, why, at, attempts, next } = mention;
  const change = kind === "gone" ? ", as deleted" : kind === "changed" ? ", as changed" : "";
  const date = at ? ` ${dateText(at)}` : "";
  const place = endpoint === null ? null : endpointText(endpoint, method);
  const where = place === null ? "" : ` at ${place}`;
  const again = next === null ? "" : `; next attempt after ${dateText(next)}`;
  switch (outcome) {
    case "sent":
    case "would be sent":
      return `${outcome}${date} to ${place}${change}`;
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

function minuteOf(date: string): string {
  return `${date.slice(0, 16)}Z`;
}
