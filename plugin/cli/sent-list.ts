// plugin/cli/sent-list.ts: `eleventy-twtxt send --list` shows what became of each mention.
import type { NotedMention } from "../mentions/send/ledger.js";
import { typed } from "./invocation.js";
import { plural, tableOf } from "./send-report.js";
import type { Terminal } from "./terminal.js";

/** Prints the mentions that were sent, that wait for another attempt and that failed. */
export function printSentMentions(mentions: readonly NotedMention[], isJson: boolean, terminal: Terminal): void {
  if (isJson) terminal.print(JSON.stringify({ mentions: mentions.map(withDates) }, null, 2));
  else for (const line of tableOf(mentions, outcomeOf)) terminal.print(line);
  terminal.say(sumOf(mentions));
}

function outcomeOf({ outcome, endpoint, why, at, attempts, next }: NotedMention): string {
  const where = endpoint === null ? "" : ` at ${endpoint}`;
  switch (outcome) {
    case "sent":
      return `sent ${shortDate(at)} to ${endpoint}`;
    case "waiting":
      return `waiting, ${plural(attempts ?? 0, "attempt", "attempts") ?? "not tried yet"}${where}: ${why ?? "no answer"}; again after ${shortDate(next)}`;
    case "failed":
      return `failed ${shortDate(at)}${where}: ${why}`;
    case "not-asked":
      return `${why}`;
    case "no-endpoint":
      return `nobody to tell: ${why}`;
  }
}

function sumOf(mentions: readonly NotedMention[]): string {
  const count = (...outcomes: NotedMention["outcome"][]) =>
    mentions.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const waiting = plural(count("waiting"), "waiting");
  const parts = [
    plural(count("sent"), "sent"),
    waiting && `${waiting} (to try at once: ${typed("send --now")})`,
    plural(count("failed"), "failed"),
    plural(count("no-endpoint"), "without an endpoint"),
    plural(count("not-asked"), "not asked"),
  ].filter((part) => part !== null);
  return parts.length === 0 ? "No mention was sent from here yet." : `${parts.join(", ")}.`;
}

function withDates({ at, next, ...mention }: NotedMention) {
  return { ...mention, at: isoDate(at), next: isoDate(next) };
}

function isoDate(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function shortDate(time: number | null): string {
  return `${isoDate(time)?.slice(0, 16)}Z`;
}
