// plugin/cli/send-report.ts: what a run of sending has done, in words that a blogger knows.
import type { SendReport } from "../mentions/send/send.js";
import type { MentionReport } from "../mentions/send/tell.js";
import { FOR_PRIVATE_HOSTS } from "./allowed-hosts.js";

/** One mention, as soon as it has ended. */
export function progressOf(mention: MentionReport): string {
  return [mention.timestamp, ` ${nickOf(mention)}`, mention.target, ` ${whatOf(mention)}`].join(" ");
}

/** All of them as a table, oldest first. */
export function linesOf({ mentions }: SendReport): string[] {
  return tableOf(mentions, whatOf);
}

/**
 * A line for each mention, oldest first.
 *
 * @param describe - the last column
 */
export function tableOf<T extends Pick<MentionReport, "timestamp" | "nick" | "target">>(
  mentions: readonly T[],
  describe: (mention: T) => string,
): string[] {
  const place = ({ timestamp, target }: T) => `${timestamp} ${target}`;
  const sorted = mentions.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
  const rows = sorted.map((mention) => [`${mention.timestamp} `, nickOf(mention), `${mention.target} `]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return sorted.map((mention, at) =>
    [...(rows[at] ?? []).map((cell, column) => cell.padEnd(widths[column] ?? 0)), describe(mention)].join(" "),
  );
}

/** What it comes to, and what stood in the way. */
export function sumOf({ mentions, leftAlone, troubles }: SendReport, isDryRun: boolean): string[] {
  const count = (...outcomes: MentionReport["outcome"][]) =>
    mentions.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const parts = [
    plural(count("would be sent"), "mention to send", "mentions to send"),
    plural(count("sent"), "sent"),
    plural(count("failed"), "failed"),
    plural(count("retry", "waiting"), "to be tried again"),
    plural(count("no-endpoint"), "without an endpoint"),
    plural(count("not-asked"), "not asked"),
  ].filter((part) => part !== null);
  const past = plural(leftAlone ?? 0, "mention is", "mentions are");
  const sum = parts.length > 0 ? parts.join(", ") : "There is nothing to send";
  return [
    ...troubles,
    ...(count("not-asked") > 0 ? [FOR_PRIVATE_HOSTS] : []),
    ...(past === null ? [] : [`${past} of the past and left alone: --backfill N tells of the newest N twts.`]),
    `${sum}.${isDryRun ? " Nothing was sent." : ""}`,
  ];
}

/** "3 sent"; `null` for none. */
export function plural(count: number, one: string, many = one): string | null {
  return count === 0 ? null : `${count} ${count === 1 ? one : many}`;
}

function nickOf({ nick }: Pick<MentionReport, "nick">): string {
  return nick === null ? "" : `@${nick}`;
}

function whatOf({ kind, outcome, endpoint, method, why, next }: MentionReport): string {
  const again = kind === "gone" ? ", that it is gone" : kind === "changed" ? ", of the change" : "";
  const where = endpoint === null ? "" : ` at ${endpoint} (${method})`;
  switch (outcome) {
    case "sent":
      return `told${where}${again}`;
    case "would be sent":
      return `would be told${where}${again}`;
    case "no-endpoint":
      return `nobody to tell: ${why}`;
    case "not-asked":
      return `${why}${next === null ? "" : `; again after ${next.slice(0, 16)}Z`}`;
    case "failed":
      return `failed${where}: ${why}`;
    case "retry":
      return `not yet${where}: ${why}${next === null ? "" : `; again after ${next.slice(0, 16)}Z`}`;
    case "waiting":
      return next === null ? "left to the next run" : `waits for its next attempt after ${next.slice(0, 16)}Z`;
  }
}
