// plugin/cli/message/list.ts: `message list`: a line for each message of the inbox.
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { mailboxOf } from "./mailbox.js";
import { readMessages } from "./read-messages.js";
import { factsOf, listLines, sumOf } from "./shown.js";

export async function list(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message list", args, OWN_SITE_OPTIONS);
  if (positionals.length > 0) {
    throw misuse(`message list: takes no ids; message read ${positionals[0]} shows one.`, "message");
  }
  const mailbox = await mailboxOf(values, terminal);
  const inbox = await mailbox.inbox();
  const messages = await readMessages((await inbox.list())?.messages ?? [], mailbox, mailbox.senders());
  if (values.json) terminal.print(JSON.stringify(messages.map(factsOf), null, 2));
  else for (const line of listLines(messages, terminal.columns())) terminal.print(line);
  terminal.say(sumOf(messages));
  return 0;
}
