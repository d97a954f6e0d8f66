// plugin/author/mentions/sent-mentions.ts: the results of the mentions that the author's site sent, in words.
import type { LedgerCounts, LedgerEntry } from "../../mentions/send/ledger-records.js";
import type { MentionReport } from "../../mentions/send/send-mention.js";
import { counted, listed } from "../amounts.js";

/** A mention of a run, or of the ledger, with the time and the number of attempts. */
export type ReportedMention = Omit<MentionReport, "kind" | "method" | "status" | "outcome"> &
  Partial<Pick<MentionReport, "method">> &
  Partial<Pick<LedgerEntry, "at" | "attempts">> & {
    kind?: MentionReport["kind"] | undefined;
    outcome: MentionReport["outcome"] | LedgerEntry["outcome"];
  };

/** The outcomes in the order of a summary, with their words after a number. */
const OUTCOME_WORDS: readonly (readonly [LedgerEntry["outcome"], string])[] = [
  ["sent", "sent"],
  ["waiting", "waiting"],
  ["failed", "failed"],
  ["withdrawn", "withdrawn"],
  ["no-endpoint", "without an endpoint"],
  ["not-asked", "not requested"],
];

/** @example sumOutcomes({ sent: 2, failed: 1 }) // "2 sent, 1 failed" */
export function sumOutcomes(counts: LedgerCounts): string {
  return listed(OUTCOME_WORDS.map(([outcome, words]) => [counts[outcome] ?? 0, words]));
}

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
export function describeOutcome(mention: ReportedMention, dateText: (date: string) => string = toMinute): string {
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

function toMinute(date: string): string {
  return `${date.slice(0, 16)}Z`;
}
