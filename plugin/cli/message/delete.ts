// plugin/cli/message/delete.ts: `message delete`: removes messages from the inbox.
import type { InboxMessage } from "../../messages/read/inbox-answer.js";
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { namedBy, shortId } from "./ids.js";
import { type Mailbox, mailboxOf } from "./mailbox.js";
import { isOpened, type ReadMessage, readMessages } from "./read-messages.js";
import { listLines } from "./shown.js";

const OPTIONS = { ...OWN_SITE_OPTIONS, unverified: { type: "boolean" } } as const;

export async function deleteMessages(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("message delete", args, OPTIONS);
  if ((positionals.length === 0) === !values.unverified) {
    const which = "by ids as message list shows them, such as 4f0c, or all with --unverified";
    throw misuse(`message delete: say which, ${which}.`, "message");
  }
  const mailbox = await mailboxOf(values, terminal);
  const inbox = await mailbox.inbox();
  const all = (await inbox.list())?.messages ?? [];
  // All ids are looked at, or all senders looked up, before anything is deleted.
  const { wanted, kept } = values.unverified
    ? await unverifiedAmong(all, mailbox)
    : { wanted: namedBy(positionals, all, "message of your inbox"), kept: 0 };
  const deleted: { id: string; created: string; deleted: boolean }[] = [];
  for (const message of wanted) {
    const { id, created } = message;
    deleted.push({ id, created, deleted: await inbox.delete(id) });
    if (!values.json) for (const line of linesOf(message, terminal.columns())) terminal.print(line);
  }
  if (values.json) terminal.print(JSON.stringify(deleted, null, 2));
  const rest = kept === 0 ? "" : ` ${kept} kept: unverified, but signed with a key that you know.`;
  terminal.say(`${deleted.length} deleted.${rest}`);
  return 0;
}

/** What a contact has signed stays, whose host is just down, or who had another key then. */
async function unverifiedAmong(
  all: readonly InboxMessage[],
  mailbox: Mailbox,
): Promise<{ wanted: ReadMessage[]; kept: number }> {
  const messages = await readMessages(all, mailbox, mailbox.senders({ patienceMs: Number.POSITIVE_INFINITY }));
  const unverified = messages.filter((one) => isOpened(one)).filter(({ trust }) => trust.trust === "unverified");
  const wanted: ReadMessage[] = [];
  for (const message of unverified) {
    const { address } = message.message;
    const contact = address === null ? null : await mailbox.contacts.get(address);
    const known = [contact?.key, ...(contact?.former ?? []).map(({ key }) => key)];
    if (!known.includes(message.signer)) wanted.push(message);
  }
  return { wanted, kept: unverified.length - wanted.length };
}

function linesOf(message: InboxMessage | ReadMessage, columns: number | null): string[] {
  if ("trust" in message) return listLines([message], columns);
  return [`${shortId(message.id)}  ${message.created.slice(0, 19)}Z`];
}
