// plugin/cli/message/block.ts: `message block`, `unblock` and `blocked`.
import { counted } from "../../author/amounts.js";
import { typed } from "../../author/invocation.js";
import { Mailbox } from "../../author/messages/mailbox.js";
import type { OwnSiteValues } from "../options.js";
import { formatTable, printData } from "../output.js";
import type { Terminal } from "../terminal.js";
import { verifiedSender } from "./read-inbox.js";

/** A sender, by address or by a message. */
export type SenderChoice = { address: string } | { id: string };

/** `message block ADDRESS` or `message block ID` */
export async function block(values: OwnSiteValues, choice: SenderChoice, terminal: Terminal): Promise<number> {
  const mailbox = await Mailbox.open(values, terminal);
  const { address, signer } =
    "id" in choice ? await verifiedSender(choice.id, mailbox) : { ...choice, signer: undefined };
  await mailbox.block(address, signer);
  terminal.say(
    `${address} blocked. ${typed("message list")}, read and follow delete messages of this sender. To undo: ${typed(`message unblock ${address}`)}`,
  );
  return 0;
}

/** `message unblock ADDRESS` */
export async function unblock(values: OwnSiteValues, address: string, terminal: Terminal): Promise<number> {
  const { blocked } = await Mailbox.open(values, terminal);
  const wasBlocked = await blocked.unblock(address);
  terminal.say(wasBlocked ? `${address} is no longer blocked.` : `${address} was not blocked.`);
  return wasBlocked ? 0 : 1;
}

/** `message blocked` */
export async function listBlocked(values: OwnSiteValues, _: null, terminal: Terminal): Promise<number> {
  const senders = await (await Mailbox.open(values, terminal)).blocked.list();
  const rows = senders.map(({ address, since }) => [address, since.slice(0, 10)]);
  printData(senders, formatTable(rows), values, terminal);
  terminal.say(`${counted(senders.length, "sender")} blocked.`);
  return 0;
}
