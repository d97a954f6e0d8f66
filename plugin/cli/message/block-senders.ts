// plugin/cli/message/block-senders.ts: `message block`, `unblock` and `blocked`.
import { counted } from "../../author/amounts.js";
import { typed } from "../../author/invocation.js";
import { blockSender, Mailbox, unblockSender } from "../../author/messages/mailbox.js";
import { parseAddress } from "../../keys/address.js";
import { address, type Kind, one } from "../options.js";
import { formatTable, printData, reportOutcome } from "../terminal.js";
import { action, ID } from "./message-options.js";
import { verifiedSender } from "./read-inbox.js";

const SENDER: Kind<{ address: string } | { id: string }> = {
  name: "ADDRESS|ID",
  expected: "an address such as bob@bob.example, or the id of a message",
  parse(value) {
    const known = parseAddress(value);
    if (known !== null) return { address: known };
    const id = ID.parse(value);
    return id === null ? null : { id };
  },
};

export const block = action({
  usage: ["ADDRESS", "ID"],
  help: "deletes all messages of this sender, also later ones, when list, read or follow opens them. Your host cannot refuse them, because it cannot know who sealed a message",
  words: one(SENDER),
  async run(values, choice, terminal) {
    const mailbox = await Mailbox.open(values, terminal);
    const { address, signer } =
      "id" in choice ? await verifiedSender(choice.id, mailbox) : { ...choice, signer: undefined };
    const { text } = await blockSender(address, mailbox, signer);
    return reportOutcome({ text: `${text} To undo: ${typed(`message unblock ${address}`)}` }, terminal);
  },
});

export const unblock = action({
  usage: "ADDRESS",
  help: "shows messages of a sender again",
  words: one(address("bob@bob.example")),
  async run(values, address, terminal) {
    return reportOutcome(await unblockSender(address, await Mailbox.open(values, terminal)), terminal);
  },
});

export const listBlocked = action({
  help: "lists the senders that you have blocked",
  async run(values, _, terminal) {
    const senders = await (await Mailbox.open(values, terminal)).blocked.list();
    senders.sort((a, b) => (a.address < b.address ? -1 : 1));
    const rows = senders.map(({ address, since }) => [address, since.slice(0, 10)]);
    printData(senders, formatTable(rows), values, terminal);
    terminal.say(`${counted(senders.length, "sender")} blocked.`);
    return 0;
  },
});
