// plugin/cli/message/send.ts: `message send`: seals a message for all its recipients and delivers it.

import { parseAddress } from "../../keys/address.js";
import { resolveAll } from "../../messages/lookup/recipients.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import { sendMessage } from "../../messages/send/send-message.js";
import { misuse, readArguments } from "../command.js";
import { typed } from "../invocation.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { sendFromEditor, textSource } from "./draft.js";
import { type Mailbox, mailboxOf } from "./mailbox.js";
import { exitCodeOf, reportLines, sumOfReports } from "./reports.js";

const OPTIONS = { ...OWN_SITE_OPTIONS, "no-copy": { type: "boolean" } } as const;

export async function send(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message send", args, OPTIONS);
  const { recipients, word } = split(positionals);
  const source = await textSource(word, terminal);
  const mailbox = await mailboxOf(values, terminal);
  const retried = await mailbox.outbox().retry({ all: false });
  if (retried.length > 0) {
    terminal.say(`From the outbox: ${sumOfReports(retried)} To see what is left, type: ${typed("message outbox")}`);
  }
  // What is wrong with them is said before anybody writes a text; each is looked up once.
  const { contacts, lookup } = mailbox;
  const resolved = await resolveAll(recipients, { contacts, lookup });
  const byDns = new Set(resolved.flatMap(({ address, byDns }) => (byDns ? address : [])));

  const sendText = (text: string) =>
    deliver({ recipients, text, keepCopy: !values["no-copy"] }, byDns, values.json ?? false, mailbox, terminal);
  return "text" in source ? sendText(source.text) : sendFromEditor(source.editor, recipients, sendText, terminal);
}

async function deliver(
  message: { recipients: string[]; text: string; keepCopy: boolean },
  byDns: ReadonlySet<string>,
  isJson: boolean,
  mailbox: Mailbox,
  terminal: Terminal,
): Promise<number> {
  const { author, key, contacts, lookup } = mailbox;
  const width = Math.max(...message.recipients.map(({ length }) => length));
  const onResult = (report: RecipientReport) => {
    if (isJson) return;
    const [line = "", ...reason] = reportLines(report, terminal.columns(), width);
    const verified = byDns.has(report.address) ? "  verified by DNS" : "";
    for (const one of [line + verified, ...reason]) terminal.print(one);
  };
  const outbox = mailbox.outbox(onResult);
  const from = { address: author.address, key };
  const { id, reports } = await sendMessage(message, { from, contacts, lookup, outbox, now: terminal.now });
  const factsOf = ({ id: _, ...report }: RecipientReport) => ({ ...report, byDns: byDns.has(report.address) });
  if (isJson) terminal.print(JSON.stringify({ id, recipients: reports.map(factsOf) }, null, 2));
  terminal.say(sumOfReports(reports));
  return exitCodeOf(reports);
}

/** @throws TwtxtError `bad-usage` */
function split(words: readonly string[]): { recipients: string[]; word: string | undefined } {
  const end = words.findIndex((word) => parseAddress(word) === null);
  const addresses = end < 0 ? words : words.slice(0, end);
  const [word, ...others] = words.slice(addresses.length);
  if (addresses.length === 0) {
    const got = word === undefined ? "" : `, got "${word}"`;
    throw misuse(`message send: say first to whom, such as bob@bob.example${got}.`, "message");
  }
  // A mistyped address must not become the text for the others.
  const isMistyped = word !== undefined && /^[^\s@]+@\S*$/.test(word);
  if (isMistyped || others.length > 0) {
    const why = isMistyped ? `"${word}" is no address such as bob@bob.example` : "put the text into quotes";
    throw misuse(`message send: expected addresses and one text; ${why}.`, "message");
  }
  return { recipients: addresses.map((address) => parseAddress(address) ?? address), word };
}
