// plugin/cli/message/read.ts: `message read`: messages of the inbox as a whole.
import { readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { namedBy } from "./ids.js";
import { mailboxOf } from "./mailbox.js";
import { isOpened, readMessages } from "./read-messages.js";
import { sendReceipts } from "./receipts.js";
import { factsOf, messageLines, sumOf } from "./shown.js";

const OPTIONS = { ...OWN_SITE_OPTIONS, receipts: { type: "boolean" } } as const;

export async function read(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message read", args, OPTIONS);
  const mailbox = await mailboxOf(values, terminal);
  const inbox = await mailbox.inbox();
  const all = (await inbox.list())?.messages ?? [];
  const wanted = positionals.length === 0 ? all : namedBy(positionals, all, "message of your inbox");
  const messages = await readMessages(wanted, mailbox, mailbox.senders());
  if (values.json) terminal.print(JSON.stringify(messages.map(factsOf), null, 2));
  else {
    const blocks = messages.map((message) => messageLines(message, terminal.columns()));
    for (const line of blocks.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]))) terminal.print(line);
  }
  terminal.say(sumOf(messages));
  const opened = messages.filter((message) => isOpened(message));
  return values.receipts ? sendReceipts(opened, mailbox, terminal) : 0;
}
