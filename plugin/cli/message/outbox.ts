// plugin/cli/message/outbox.ts: `message outbox`, `retry` and `discard`: what has not reached everybody.

import type { OutboxEntry } from "../../messages/send/outbox-entry.js";
import { misuse, readArguments } from "../command.js";
import { typed } from "../invocation.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { namedBy, shortId } from "./ids.js";
import { type Mailbox, mailboxOf } from "./mailbox.js";
import { exitCodeOf, reportLines, sumOfReports } from "./reports.js";
import { ownText } from "./sent.js";
import { followedBy } from "./wrap.js";

/** `message outbox` */
export async function outbox(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message outbox", args, OWN_SITE_OPTIONS);
  if (positionals.length > 0) throw misuse("message outbox: takes no ids.", "message");
  const mailbox = await mailboxOf(values, terminal);
  const entries = await mailbox.outbox().list();
  if (values.json) terminal.print(JSON.stringify(entries.map(factsOf), null, 2));
  else for (const line of entries.flatMap((entry) => entryLines(entry, mailbox, terminal))) terminal.print(line);
  const hint = entries.length === 0 ? "" : ` To try now, type: ${typed("message retry")}`;
  terminal.say(`${entries.length} in the outbox.${hint}`);
  return 0;
}

/** `message retry` */
export async function retry(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message retry", args, OWN_SITE_OPTIONS);
  if (positionals.length > 0) throw misuse("message retry: takes no ids; it tries all.", "message");
  const mailbox = await mailboxOf(values, terminal);
  const tried = mailbox.outbox((report) => {
    if (values.json) return;
    const [line = "", ...reason] = reportLines(report, terminal.columns());
    for (const one of [`${shortId(report.id)}  ${line}`, ...reason]) terminal.print(one);
  });
  const reports = await tried.retry({ all: true });
  if (values.json) terminal.print(JSON.stringify(reports, null, 2));
  terminal.say(reports.length === 0 ? "There is nothing in the outbox to try." : sumOfReports(reports));
  return exitCodeOf(reports);
}

/** `message discard ID` */
export async function discard(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message discard", args, OWN_SITE_OPTIONS);
  if (positionals.length !== 1) {
    throw misuse("message discard: say which one, by its id as message outbox shows it.", "message");
  }
  const { outbox } = await mailboxOf(values, terminal);
  const [entry] = namedBy(positionals, await outbox().list(), "message of the outbox");
  if (!entry) return 1;
  await outbox().discard(entry.id);
  const others = entry.recipients.filter(({ state }) => state !== "delivered").map(({ address }) => address);
  if (values.json) terminal.print(JSON.stringify(factsOf(entry), null, 2));
  else terminal.print(`${shortId(entry.id)}  ${entry.created}`);
  terminal.say(`It is gone. Not delivered to ${others.join(", ")}.`);
  return 0;
}

function entryLines(entry: OutboxEntry, { keys }: Mailbox, terminal: Terminal): string[] {
  const head = `${shortId(entry.id)}  ${entry.created}`;
  const columns = terminal.columns();
  const text = ownText(entry.sealed, keys);
  const shown = text === "" ? "(read receipt)" : (text ?? "");
  const width = Math.max(...entry.recipients.map(({ address }) => address.length));
  return [
    ...followedBy(shown, head, columns),
    ...entry.recipients.flatMap((recipient) => {
      return reportLines(recipient, columns && columns - 2, width).map((line) => `  ${line}`);
    }),
  ];
}

function factsOf({ id, created, recipients }: OutboxEntry) {
  return { id, created, recipients };
}
