// plugin/cli/message/block.ts: `message block`, `unblock` and `blocked`.
import { counted } from "../../author/amounts.js";
import { typed } from "../../author/invocation.js";
import { Mailbox } from "../../author/messages/mailbox.js";
import { blockSender, unblockSender } from "../../author/messages/message-actions.js";
import type { OwnSiteValues } from "../options.js";
import { formatTable, printData, reportOutcome } from "../output.js";
import type { Terminal } from "../terminal.js";
import { verifiedSender } from "./read-inbox.js";

/** A sender, by address or by a message. */
export type SenderChoice = { address: string } | { id: string };

/** `message block ADDRESS` or `message block ID` */
export async function block(values: OwnSiteValues, choice: SenderChoice, terminal: Terminal): Promise<number> {
  const mailbox = await Mailbox.open(values, terminal);
  const { address, signer } =
    "id" in choice ? await verifiedSender(choice.id, mailbox) : { ...choice, signer: undefined };
  const { text } = await blockSender(address, mailbox, signer);
  return reportOutcome({ text: `${text} To undo: ${typed(`message unblock ${address}`)}` }, terminal);
}

/** `message unblock ADDRESS` */
export async function unblock(values: OwnSiteValues, address: string, terminal: Terminal): Promise<number> {
  return reportOutcome(await unblockSender(address, await Mailbox.open(values, terminal)), terminal);
}

/** `message blocked` */
export async function listBlocked(values: OwnSiteValues, _: null, terminal: Terminal): Promise<number> {
  const senders = await (await Mailbox.open(values, terminal)).blocked.list();
  const rows = senders.map(({ address, since }) => [address, since.slice(0, 10)]);
  printData(senders, formatTable(rows), values, terminal);
  terminal.say(`${counted(senders.length, "sender")} blocked.`);
  return 0;
}
