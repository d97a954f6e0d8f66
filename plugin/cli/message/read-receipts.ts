// plugin/cli/message/read-receipts.ts: `message read --receipts`: sends read receipts.
import { TwtxtError } from "../../errors.js";
import { formatTimestamp } from "../../feed/timestamp.js";
import { isReceipt, receiptFor } from "../../messages/line.js";
import type { OpenedMessage } from "../../messages/read/read.js";
import { sendMessage } from "../../messages/send/send-message.js";
import { writeJson } from "../../store/json.js";
import type { Terminal } from "../terminal.js";
import type { Mailbox } from "./mailbox.js";
import { indented } from "./message-text.js";
import { reportLines } from "./outgoing.js";

/** Messages per receipt; a message has room for some hundreds. */
const PER_RECEIPT = 100;
const FOLDER = "receipts";

/**
 * Sends receipts to verified senders, once per message: never for a receipt, and never to the author.
 *
 * @returns 1 where one could not be sent, which the next reading retries
 */
export async function sendReceipts(
  messages: readonly OpenedMessage[],
  mailbox: Mailbox,
  terminal: Terminal,
): Promise<number> {
  const hashes = new Map<string, Set<string>>();
  for (const { message, trust, hash } of messages) {
    const { address } = message;
    const isOwed = trust.trust === "verified" && address !== null && address !== mailbox.author.address;
    if (isOwed && !isReceipt(message)) hashes.set(address, (hashes.get(address) ?? new Set()).add(hash));
  }
  let exitCode = 0;
  for (const [address, ofSender] of hashes) {
    const list = [...ofSender];
    for (let start = 0; start < list.length; start += PER_RECEIPT) {
      const claimed = await claim(list.slice(start, start + PER_RECEIPT), mailbox, terminal);
      if (claimed.length > 0 && !(await sendTo(address, claimed, mailbox, terminal))) exitCode = 1;
    }
  }
  return exitCode;
}

/** Another process may read the same messages now: one of them claims each message. */
async function claim(hashes: readonly string[], { author }: Mailbox, { now }: Terminal): Promise<string[]> {
  const claimed: string[] = [];
  for (const hash of hashes) {
    const written = await writeJson(author.store, `${FOLDER}/${hash}`, formatTimestamp(now()), { isNew: true });
    if (written !== null) claimed.push(hash);
  }
  return claimed;
}

async function sendTo(address: string, hashes: string[], mailbox: Mailbox, terminal: Terminal): Promise<boolean> {
  const { author, key, contacts, lookup } = mailbox;
  const from = { address: author.address, key };
  const report = ([line = "", ...reason]: string[]) => {
    for (const one of [`Read receipt: ${line}`, ...reason]) terminal.say(one);
  };
  const message = { recipients: [address], text: "", events: hashes.map(receiptFor), keepCopy: false };
  try {
    const outbox = mailbox.outbox((result) => report(reportLines(result, terminal.columns())));
    const { reports } = await sendMessage(message, { from, contacts, lookup, outbox, now: terminal.now });
    return reports.every(({ state }) => state !== "failed");
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    for (const hash of hashes) await author.store.delete(`${FOLDER}/${hash}`);
    report([`${address}  failed`, ...indented(error.message, terminal.columns())]);
    return false;
  }
}
