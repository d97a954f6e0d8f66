// plugin/cli/message/outgoing.ts: `message sent`, `outbox`, `retry` and `discard`, and reports of deliveries.
import { counted, listed } from "../../author/amounts.js";
import { typed } from "../../author/invocation.js";
import { describeDelay, discardMessage, hasFailed, Mailbox, NOTHING_TO_RETRY } from "../../author/messages/mailbox.js";
import { inSeconds, openCopies, ownText, shownAddress, shownText } from "../../author/messages/message-facts.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { one, oneByPrefix, optional, shortId } from "../options.js";
import { padded, printData, reportOutcome, type Terminal } from "../terminal.js";
import { action, ID } from "./message-options.js";
import { appendLine, indented } from "./message-text.js";

export const sent = action({
  usage: "[ID]",
  help: "lists your own copies, or shows the one with this id",
  words: optional(ID),
  async run(values, id, terminal) {
    const mailbox = await Mailbox.open(values, terminal);
    const all = await mailbox.outbox().sent();
    const wanted = id === null ? all : [oneByPrefix(id, all, "copy of yours")];
    const copies = openCopies(wanted, mailbox.keys);
    const columns = terminal.columns();
    const lines = copies.flatMap((copy) => {
      const head = `${shortId(copy.id)}  ${inSeconds(copy.created)}  to ${copy.to.map(shownAddress).join(", ")}`;
      const text = shownText(copy);
      return id === null ? appendLine(text, head, columns) : [head, ...indented(text, columns)];
    });
    printData(copies, lines, values, terminal);
    if (id === null && !values.json) terminal.say(`${counted(copies.length, "copy", "copies")}.`);
    return 0;
  },
});

export const outbox = action({
  help: "lists messages that some recipients have not received yet, and why",
  async run(values, _, terminal) {
    const mailbox = await Mailbox.open(values, terminal);
    const entries = await mailbox.outbox().list();
    const lines = entries.flatMap((entry) => entryLines(entry, mailbox, terminal));
    printData(entries.map(toFacts), lines, values, terminal);
    const hint = entries.length === 0 ? "" : ` To try now, type: ${typed("message retry")}`;
    terminal.say(`${entries.length} in the outbox.${hint}`);
    return 0;
  },
});

export const retry = action({
  help: "tries to deliver the whole outbox now, including what has failed",
  async run(values, _, terminal) {
    const mailbox = await Mailbox.open(values, terminal);
    const outbox = mailbox.outbox((report) => {
      if (values.json) return;
      const [line = "", ...reason] = reportLines(report, terminal.columns());
      for (const one of [`${shortId(report.id)}  ${line}`, ...reason]) terminal.print(one);
    });
    const reports = await outbox.retry({ all: true });
    printData(reports, [], values, terminal);
    terminal.say(reports.length === 0 ? NOTHING_TO_RETRY : reportSum(reports));
    return hasFailed(reports) ? 1 : 0;
  },
});

export const discard = action({
  usage: "ID",
  help: "deletes a message from the outbox, so it is no longer delivered",
  words: one(ID),
  async run(values, id, terminal) {
    const mailbox = await Mailbox.open(values, terminal);
    const entry = oneByPrefix(id, await mailbox.outbox().list(), "message in the outbox");
    const outcome = await discardMessage(entry, mailbox);
    printData(toFacts(entry), [`${shortId(entry.id)}  ${inSeconds(entry.created)}`], values, terminal);
    return reportOutcome(outcome, terminal);
  },
});

function entryLines(entry: OutboxEntry, { keys }: Mailbox, terminal: Terminal): string[] {
  const head = `${shortId(entry.id)}  ${inSeconds(entry.created)}`;
  const columns = terminal.columns();
  const text = ownText(entry.sealed, keys);
  const shown = text === "" ? "(read receipt)" : (text ?? "");
  const width = Math.max(...entry.recipients.map(({ address }) => shownAddress(address).length));
  return [
    ...appendLine(shown, head, columns),
    ...entry.recipients.flatMap((recipient) => {
      return reportLines(recipient, columns && columns - 2, width).map((line) => `  ${line}`);
    }),
  ];
}

function toFacts({ id, created, recipients }: OutboxEntry) {
  return { id, created, recipients };
}

type Report = Pick<RecipientReport, "address" | "endpoint" | "state" | "why" | "next">;

/**
 * The result for one recipient: a line of this program, and the reason below it, which may quote an inbox.
 *
 * @param columns - of the terminal; `null` for no terminal
 * @param width - of the longest address
 */
export function reportLines(report: Report, columns: number | null, width = 0): string[] {
  const line = `${padded(shownAddress(report.address), width)}  ${describeOutcome(report)}`;
  return [line, ...(report.state === "delivered" ? [] : indented(describeDelay(report), columns))];
}

function describeOutcome({ endpoint, state, next }: Report): string {
  switch (state) {
    case "delivered":
      return `delivered to ${endpoint}`;
    case "failed":
      return `failed at ${endpoint} (kept in the outbox)`;
    case "waiting": {
      const again = next === null ? "" : `; to try again after ${formatTimestamp(next)}: ${typed("message retry")}`;
      return `not delivered yet at ${endpoint}${again} (kept in the outbox)`;
    }
  }
}

/** @example reportSum([{ state: "delivered" }]) // "1 delivered." */
export function reportSum(reports: readonly Pick<Report, "state">[]): string {
  const count = (state: Report["state"]) => reports.filter((report) => report.state === state).length;
  const counts = [
    [count("delivered"), "delivered"],
    [count("waiting"), "to be retried"],
    [count("failed"), "failed"],
  ] as const;
  return `${listed(counts)}.`;
}
