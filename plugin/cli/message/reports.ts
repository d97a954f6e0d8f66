// plugin/cli/message/reports.ts: what came of delivering, recipient by recipient.
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import { indented } from "./wrap.js";

type Report = Pick<RecipientReport, "address" | "endpoint" | "state" | "why" | "next">;

/**
 * One recipient, as soon as it is known: a line of ours, and the reason below it, in which an inbox may have a say.
 *
 * @param columns - of the terminal; `null` for no terminal
 * @param width - that of the longest address
 */
export function reportLines(report: Report, columns: number | null, width = 0): string[] {
  const { address, state, why } = report;
  const reason = why ?? (state === "waiting" ? "it is being tried" : null);
  const line = `${address.padEnd(width)}  ${outcomeOf(report)}`;
  return [line, ...(state === "delivered" || reason === null ? [] : indented(reason, columns))];
}

function outcomeOf({ endpoint, state, next }: Report): string {
  switch (state) {
    case "delivered":
      return `delivered to ${endpoint}`;
    case "failed":
      return `failed at ${endpoint} (kept in the outbox)`;
    case "waiting":
      return `not yet at ${endpoint}${againAfter(next)} (kept in the outbox)`;
  }
}

function againAfter(next: number | null): string {
  return next === null ? "" : `; again after ${formatTimestamp(next)}`;
}

/** What it comes to. */
export function sumOfReports(reports: readonly Pick<Report, "state">[]): string {
  const count = (state: Report["state"]) => reports.filter((report) => report.state === state).length;
  const parts = [
    [count("delivered"), "delivered"],
    [count("waiting"), "to be tried again"],
    [count("failed"), "failed"],
  ] as const;
  return `${parts
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${number} ${what}`)
    .join(", ")}.`;
}

/** 1 where something has failed for good, as in `send`. */
export function exitCodeOf(reports: readonly Pick<Report, "state">[]): number {
  return reports.some(({ state }) => state === "failed") ? 1 : 0;
}

/** @throws what is none of our errors */
export function failureOf(error: unknown): string {
  if (error instanceof TwtxtError) return error.message;
  throw error;
}
