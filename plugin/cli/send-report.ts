// plugin/cli/send-report.ts: what `eleventy-twtxt send` has sent, and what it has recorded before, in words.
import type { LedgerEntry } from "../mentions/send/ledger.js";
import type { SendReport } from "../mentions/send/send.js";
import type { MentionReport } from "../mentions/send/send-mention.js";
import { typed } from "./invocation.js";
import { FOR_PRIVATE_HOSTS } from "./options.js";
import { counted, listed, tableOf } from "./output.js";
import type { Terminal } from "./terminal.js";

type Row = Pick<MentionReport, "timestamp" | "nick" | "target">;

/** Shows mentions as soon as they are done. */
export function progressOf(
  { json, "dry-run": isDryRun }: { json: boolean; "dry-run": boolean },
  { isTerminal, say }: Terminal,
): (mention: MentionReport) => void {
  let done = 0;
  return (mention) => {
    done += 1;
    if (json || isDryRun) return;
    // On one screen the table follows anyway.
    if (!isTerminal.stdout || !isTerminal.stderr) say([...cellsOf(mention), outcomeOf(mention)].join("  "));
    else if (done % 10 === 0) say(`${done} so far.`);
  };
}

/** A line for each mention, oldest first. */
export function reportLines({ mentions }: SendReport): string[] {
  return linesOf(mentions, outcomeOf);
}

/** Counts, and what went wrong. */
export function reportSum({ mentions, leftAlone, troubles }: SendReport, isDryRun: boolean): string[] {
  const count = (...outcomes: MentionReport["outcome"][]) =>
    mentions.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const sum = listed([
    [count("would be sent"), count("would be sent") === 1 ? "mention to send" : "mentions to send"],
    [count("sent"), "sent"],
    [count("failed"), "failed"],
    [count("retry", "waiting"), "to be retried"],
    [count("no-endpoint"), "without an endpoint"],
    [count("not-asked"), "not requested"],
  ]);
  const skipped = leftAlone ?? 0;
  return [
    ...troubles,
    ...(count("not-asked") > 0 ? [FOR_PRIVATE_HOSTS] : []),
    ...(skipped > 0 ? [`${counted(skipped, "older mention")} skipped: --backfill N sends the newest N twts.`] : []),
    sum === "" ? "Nothing to send." : `${sum}.${isDryRun ? " Nothing was sent." : ""}`,
  ];
}

function outcomeOf({ kind, outcome, endpoint, method, why, next }: MentionReport): string {
  const change = kind === "gone" ? ", as deleted" : kind === "changed" ? ", as changed" : "";
  const place = endpoint === null ? "" : `${endpoint} (${method})`;
  const at = place === "" ? "" : ` at ${place}`;
  const again = next === null ? "" : `; next attempt after ${next.slice(0, 16)}Z`;
  switch (outcome) {
    case "sent":
    case "would be sent":
      return `${outcome} to ${place}${change}`;
    case "no-endpoint":
      return noEndpoint(why);
    case "not-asked":
      return `${why}${again}`;
    case "failed":
      return `failed${at}: ${why}`;
    case "retry":
      return `not sent yet${at}: ${why}${again}`;
    case "waiting":
      return next === null ? "left to the next run" : `next attempt after ${next.slice(0, 16)}Z`;
  }
}

/** A line for each recorded mention, oldest first. */
export function notedLines(mentions: readonly LedgerEntry[]): string[] {
  return linesOf(mentions, notedOutcome);
}

function notedOutcome({ outcome, endpoint, why, at, attempts, next }: LedgerEntry): string {
  const where = endpoint === null ? "" : ` at ${endpoint}`;
  switch (outcome) {
    case "sent":
      return `sent ${shortDate(at)} to ${endpoint}`;
    case "waiting": {
      const tried = attempts ? `${counted(attempts, "attempt")}${where}: ${why ?? "no answer"}` : "not tried yet";
      return `waiting, ${tried}; next attempt after ${shortDate(next)}`;
    }
    case "failed":
      return `failed ${shortDate(at)}${where}: ${why}`;
    case "not-asked":
      return `${why}`;
    case "no-endpoint":
      return noEndpoint(why);
  }
}

function noEndpoint(why: string | null): string {
  return why?.startsWith("no endpoint") ? why : `no endpoint: ${why}`;
}

export function notedSum(mentions: readonly LedgerEntry[]): string {
  const count = (...outcomes: LedgerEntry["outcome"][]) =>
    mentions.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const sum = listed([
    [count("sent"), "sent"],
    [count("waiting"), `waiting (to try at once: ${typed("send --now")})`],
    [count("failed"), "failed"],
    [count("no-endpoint"), "without an endpoint"],
    [count("not-asked"), "not requested"],
  ]);
  return sum === "" ? "No mentions were sent from here yet." : `${sum}.`;
}

/** For `--json`. */
export function notedFacts({ at, next, ...mention }: LedgerEntry) {
  return { ...mention, at: isoDate(at), next: isoDate(next) };
}

function linesOf<T extends Row>(mentions: readonly T[], describe: (mention: T) => string): string[] {
  const place = ({ timestamp, target }: T) => `${timestamp} ${target}`;
  const sorted = mentions.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
  return tableOf(sorted.map((mention) => [...cellsOf(mention), describe(mention)]));
}

function cellsOf({ timestamp, nick, target }: Row): string[] {
  return [timestamp, nick === null ? "" : `@${nick}`, target];
}

function isoDate(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function shortDate(time: number | null): string {
  return `${isoDate(time)?.slice(0, 16)}Z`;
}
