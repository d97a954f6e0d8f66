// plugin/cli/message.ts: `eleventy-twtxt message` sends and reads private messages.
import { toCommand } from "./command.js";
import { block, listBlocked, unblock } from "./message/block-senders.js";
import { reply, send } from "./message/compose.js";
import { discard, outbox, retry, sent } from "./message/outgoing.js";
import { deleteMessages, follow, list, read } from "./message/read-inbox.js";
import { OWN_SITE_OPTIONS } from "./options.js";

export const message = toCommand({
  name: "message",
  summary: "sends and reads private messages",
  about:
    "Messages are sealed and opened on this machine, with the key of your address. Without a TEXT, send reads standard input, or opens $VISUAL or $EDITOR. The first characters of an id are enough.",
  actions: {
    ...{ send, reply, list, read, follow, delete: deleteMessages, block, unblock, blocked: listBlocked },
    ...{ sent, outbox, retry, discard },
  },
  shared: OWN_SITE_OPTIONS,
  notes:
    "Exit code 0 if all was delivered or will be retried, 1 if something failed permanently. With --json, follow prints one line per message.",
  example: `$ eleventy-twtxt message send bob@bob.example carol@carol.example "See you at nine?"
bob@bob.example      delivered to https://bob.example/inbox/bob
carol@carol.example  delivered to https://carol.example/inbox/carol
$ eleventy-twtxt message list
4f0c1a2b  2026-11-20T09:12:00Z  bob@bob.example  verified  Nine it is.`,
});
