// plugin/cli/message.ts: `eleventy-twtxt message` writes and reads private messages.
import { type Action, runAction } from "./command.js";
import type { Terminal } from "./terminal.js";

export const name = "message";
export const summary = "writes and reads private messages";
export const help = `Usage: eleventy-twtxt message send ADDRESS... ["TEXT"] [--no-copy]
       eleventy-twtxt message list
       eleventy-twtxt message read [ID...] [--receipts]
       eleventy-twtxt message follow [--all] [--every SECONDS]
       eleventy-twtxt message delete ID... | --unverified
       eleventy-twtxt message sent [ID]
       eleventy-twtxt message outbox
       eleventy-twtxt message retry
       eleventy-twtxt message discard ID

Messages are sealed and opened on this machine, with the key of your address. Without a TEXT, send
reads standard input, or opens $VISUAL or $EDITOR. An id may be typed by its beginning.

  send      seals a message for all recipients and you, and delivers it. What cannot be delivered now
            waits in the outbox, up to three days, for retry or the next send
  list      shows what is in your inbox, a line for each message, and whether it is certain who wrote it
  read      shows messages as a whole; nothing is removed by that
  follow    shows new messages as they come, until Ctrl-C
  delete    removes messages from your inbox
  sent      lists your own copies, or shows the one of this id
  outbox    lists what not everybody has yet, to whom it goes, and why it is not there
  retry     tries now what is in the outbox, what has failed too
  discard   removes a message from the outbox; nobody gets it any more

  --no-copy         keeps no copy for sent
  --receipts        tells verified senders, once for each message, that you have read it
  --unverified      deletes all that list shows as unverified, but for what is signed with a key that
                    you know, or shows as changed
  --all             begins with the messages that are there already
  --every SECONDS   how often to look, where the inbox offers no subscription (default 30, at least 5)
  --json            prints JSON; follow prints a line for each message
  --as ADDRESS      which of your addresses, where this machine has the keys of several
  --identity FILE   your key, if it is in a file of your own choice
  --url URL         where your inbox is reached, if not at its own address, such as a local server
  --settings FILE   the settings of the site (default .eleventy-twtxt/settings.json)
  --allow-private-host HOST:PORT
                    a host of your own network that may be asked all the same; can be repeated

Exit code 0 where all was delivered or is tried again, 1 where something failed for good.

Example:
  $ eleventy-twtxt message send bob@bob.example carol@carol.example "See you at nine?"
  bob@bob.example      delivered to https://bob.example/inbox/bob
  carol@carol.example  delivered to https://carol.example/inbox/carol
  $ eleventy-twtxt message list
  4f0c1a2b  2026-11-20T09:12:00Z  bob@bob.example  verified  Nine it is.`;

/** Each is loaded when it is called. */
const ACTIONS = new Map<string, () => Promise<Action>>([
  ["send", async () => (await import("./message/send.js")).send],
  ["list", async () => (await import("./message/list.js")).list],
  ["read", async () => (await import("./message/read.js")).read],
  ["follow", async () => (await import("./message/follow.js")).follow],
  ["delete", async () => (await import("./message/delete.js")).deleteMessages],
  ["sent", async () => (await import("./message/sent.js")).sent],
  ["outbox", async () => (await import("./message/outbox.js")).outbox],
  ["retry", async () => (await import("./message/outbox.js")).retry],
  ["discard", async () => (await import("./message/outbox.js")).discard],
]);

export function run(args: string[], terminal: Terminal): Promise<number> {
  return runAction(name, ACTIONS, args, terminal);
}
