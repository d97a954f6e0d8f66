// plugin/cli/message/receipts.ts: tells senders that their messages were read, where the reader wants it.
import { formatTimestamp } from "../../feed/timestamp.js";
import { isReceipt, receiptFor } from "../../messages/line.js";
import type { OpenedMessage } from "../../messages/read/read.js";
import { sendMessage } from "../../messages/send/send-message.js";
import { writeJson } from "../../store/json.js";
import type { Terminal } from "../terminal.js";
import type { Mailbox } from "./mailbox.js";
import { failureOf, reportLines } from "./reports.js";
import { indented } from "./wrap.js";

/** Of the messages that one receipt names; a message has room for some hundreds. */
const PER_RECEIPT = 100;
const FOLDER = "receipts";

/**
 * Sends receipts to verified senders, once for each message: never for a receipt, and never to oneself.
 *
 * @returns 1 where one could not be sent, which is tried again with the next reading
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

/** Another process may read the same messages now: each of them is claimed by one. */
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
  const tell = ([line = "", ...reason]: string[]) => {
    for (const one of [`Read receipt: ${line}`, ...reason]) terminal.say(one);
  };
  const message = { recipients: [address], text: "", events: hashes.map(receiptFor), keepCopy: false };
  try {
    const outbox = mailbox.outbox((report) => tell(reportLines(report, terminal.columns())));
    const { reports } = await sendMessage(message, { from, contacts, lookup, outbox, now: terminal.now });
    return reports.every(({ state }) => state !== "failed");
  } catch (error) {
    const failure = failureOf(error);
    for (const hash of hashes) await author.store.delete(`${FOLDER}/${hash}`);
    tell([`${address}  failed`, ...indented(failure, terminal.columns())]);
    return false;
  }
}
