// plugin/cli/message/compose.ts: `message send` and `reply`: take a text from the command line, standard input or an editor, and send it.
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { dataFolder, readText } from "../../author/files.js";
import { misuse, typed } from "../../author/invocation.js";
import { endSignal } from "../../author/machine.js";
import { fileToAttach, sendWithFile } from "../../author/messages/attachments.js";
import { hasFailed, Mailbox } from "../../author/messages/mailbox.js";
import { shownAddress } from "../../author/messages/message-facts.js";
import { TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import { createSecret, shellQuoted } from "../../keys/secret-file.js";
import { resolveRecipients } from "../../messages/lookup/recipients.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import { checkGuests } from "../../messages/send/send-message.js";
import { flag, type OwnSiteValues, oneAndOptional, option, text, type ValuesOf, type Words } from "../options.js";
import { printData, type Terminal } from "../terminal.js";
import { action, ID } from "./message-options.js";
import { reportLines, reportSum } from "./outgoing.js";
import { verifiedSender } from "./read-inbox.js";

const recipientsAndText: Words<{ recipients: string[]; text: string | null }> = {
  read(words, where) {
    const end = words.findIndex((word) => parseAddress(word) === null);
    const addresses = end < 0 ? words : words.slice(0, end);
    const [text = null, ...others] = words.slice(addresses.length);
    if (addresses.length === 0) {
      const got = text === null ? "" : `, got "${text}"`;
      throw misuse(where, `expected a recipient such as bob@bob.example${got}.`);
    }
    // A mistyped address must not become the text for the others.
    if (text !== null && /^[^\s@]+@\S*$/.test(text)) {
      throw misuse(where, `"${text}" is not an address such as bob@bob.example.`);
    }
    if (others.length > 0) throw misuse(where, "expected addresses and one text, in quotes.");
    return { recipients: addresses.map((address) => parseAddress(address) ?? address), text };
  },
};

const SENDING = {
  attach: option(
    text("FILE", "a file such as letter.pdf"),
    "seals this file to the recipients, stores it at your site, and names it in the message; blob get opens it",
  ),
  "no-copy": flag("stores no copy for sent"),
};

type Values = OwnSiteValues & ValuesOf<typeof SENDING>;

export const send = action({
  usage: 'ADDRESS... ["TEXT"] [--attach FILE] [--no-copy]',
  help: "seals a message for all recipients and for you, and delivers it. If an inbox cannot be reached, the message waits in the outbox for up to three days; retry and the next send try again",
  options: SENDING,
  words: recipientsAndText,
  async run(values, { recipients, text }, terminal) {
    const source = await textSource(text, "message send", values, terminal);
    const mailbox = await Mailbox.open(values, terminal);
    return sendTo(recipients, source, mailbox, { values, terminal });
  },
});

export const reply = action({
  usage: 'ID ["TEXT"] [--attach FILE] [--no-copy]',
  help: "answers a message in your inbox, as send does; its sender must be verified",
  options: SENDING,
  words: oneAndOptional(ID, text("TEXT", "one text, in quotes")),
  async run(values, [id, text], terminal) {
    const source = await textSource(text, "message reply", values, terminal);
    const mailbox = await Mailbox.open(values, terminal);
    const { address } = await verifiedSender(id, mailbox);
    return sendTo([address], source, mailbox, { values, terminal });
  },
});

type TextSource = { text: string } | { editor: string };

/** Sends a message, and prints the result for each recipient. @returns the exit code */
async function sendTo(
  recipients: string[],
  source: TextSource,
  mailbox: Mailbox,
  { values, terminal }: { values: Values; terminal: Terminal },
): Promise<number> {
  await retryOutbox(mailbox, terminal);
  // Before the author writes a text: a recipient without a key is an error.
  checkGuests(recipients, mailbox.author.address);
  const file = values.attach === undefined ? null : await fileToAttach(resolve(terminal.folder, values.attach));
  const resolved = await resolveRecipients(recipients, mailbox);
  const byDns = new Set(resolved.flatMap(({ address, byDns: isByDns }) => (isByDns ? address : [])));
  const width = Math.max(...recipients.map((address) => shownAddress(address).length));
  const onResult = (report: RecipientReport) => {
    if (values.json) return;
    const [line = "", ...reason] = reportLines(report, terminal.columns(), width);
    const verified = byDns.has(report.address) ? "  verified by DNS" : "";
    for (const one of [line + verified, ...reason]) terminal.print(one);
  };
  const sendText = async (text: string) => {
    const message = { recipients, text, file, keepCopy: !values["no-copy"] };
    const work = { choice: values, machine: terminal, signal: endSignal(terminal) };
    const { id, reports } = await sendWithFile(message, mailbox, work, onResult);
    const toFacts = ({ id: _, ...report }: RecipientReport) => ({ ...report, byDns: byDns.has(report.address) });
    printData({ id, recipients: reports.map(toFacts) }, [], values, terminal);
    terminal.say(reportSum(reports));
    return hasFailed(reports) ? 1 : 0;
  };
  return "text" in source ? sendText(source.text) : sendFromEditor(source.editor, recipients, sendText, terminal);
}

async function retryOutbox(mailbox: Mailbox, terminal: Terminal): Promise<void> {
  const retried = await mailbox.outbox().retry({ all: false });
  if (retried.length === 0) return;
  terminal.say(`From the outbox: ${reportSum(retried)} To see what is left, type: ${typed("message outbox")}`);
}

/** @throws TwtxtError `bad-usage` if there is neither a text nor a file nor an editor */
async function textSource(
  given: string | null,
  where: string,
  { attach }: Values,
  terminal: Terminal,
): Promise<TextSource> {
  const input = given ?? (await terminal.readInput());
  const hasFile = attach !== undefined;
  if (input !== null || hasFile) {
    const text = trimmed(input ?? "");
    if (text === "" && !hasFile) throw misuse(where, 'expected a text, such as "See you at nine?".');
    return { text };
  }
  const editor = terminal.environment.VISUAL || terminal.environment.EDITOR;
  if (editor) return { editor };
  throw misuse(
    where,
    "expected a text. Type it at the end of the command, or name your editor in $EDITOR, such as EDITOR=nano.",
  );
}

/**
 * Opens the editor, and sends the text. A text that could not be sent stays in a file.
 *
 * @param to - the recipients, for the command that sends the file
 * @param sendText - resolves to the exit code
 * @returns the exit code
 */
async function sendFromEditor(
  editor: string,
  to: readonly string[],
  sendText: (text: string) => Promise<number>,
  terminal: Terminal,
): Promise<number> {
  const file = join(dataFolder(terminal), "drafts", `message-${randomBytes(4).toString("hex")}.txt`);
  await createSecret(file, "");
  terminal.say("Write, save and close the editor to send; an empty text sends nothing.");
  try {
    const exitCode = await terminal.open(editor, file);
    if (exitCode !== 0) terminal.say(`The editor exited with code ${exitCode}. Nothing was sent.`);
    const draft = await readText(file);
    if (draft === null) throw new TwtxtError("bad-file", "The text is not in UTF-8. Nothing was sent.");
    const text = trimmed(draft);
    const isEmpty = text === "";
    if (isEmpty && exitCode === 0) terminal.say("The message is empty, and was not sent.");
    const result = isEmpty || exitCode !== 0 ? 1 : await sendText(text);
    if (isEmpty || exitCode === 0) await rm(file, { force: true });
    else sayDraft(file, to, terminal);
    return result;
  } catch (error) {
    sayDraft(file, to, terminal);
    throw error;
  }
}

function sayDraft(file: string, to: readonly string[], terminal: Terminal): void {
  const command = `${typed(`message send ${to.join(" ")}`)} < ${shellQuoted(file)}`;
  terminal.say(`Your text is in ${file}. To send it, type: ${command}`);
}

function trimmed(text: string): string {
  return text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
}
