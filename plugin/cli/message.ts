// plugin/cli/message.ts: `eleventy-twtxt message` sends and reads private messages.
import { misuse } from "../author/invocation.js";
import { parseAddress } from "../keys/address.js";
import { actionsWith, toCommand } from "./command.js";
import type { SenderChoice } from "./message/read-inbox.js";
import {
  address,
  flag,
  idPrefix,
  type Kind,
  number,
  OWN_SITE_OPTIONS,
  one,
  oneAndOptional,
  option,
  optional,
  text,
  type Words,
  withDefault,
  zeroOrMore,
} from "./options.js";

const LEAST = 4;
const ID = idPrefix(LEAST, 64, `an id of at least ${LEAST} characters such as 4f0c1a2b, as the lists show it`);
const action = actionsWith(OWN_SITE_OPTIONS);

const SENDER: Kind<SenderChoice> = {
  name: "ADDRESS|ID",
  expected: "an address such as bob@bob.example, or the id of a message",
  parse(value) {
    const known = parseAddress(value);
    if (known !== null) return { address: known };
    const id = ID.parse(value);
    return id === null ? null : { id };
  },
};

const recipientsAndText: Words<{ recipients: string[]; text: string | null }> = {
  read(words, where) {
    const end = words.findIndex((word) => parseAddress(word) === null);
    const addresses = end < 0 ? words : words.slice(0, end);
    const [text = null, ...others] = words.slice(addresses.length);
    if (addresses.length === 0) {
      const got = text === null ? "" : `, got "${text}"`;
      throw misuse(where, `expected a recipient such as bob@bob.example${got}.`);
    }
    // A mistyped address must not become the text for the others.
    if (text !== null && /^[^\s@]+@\S*$/.test(text)) {
      throw misuse(where, `"${text}" is not an address such as bob@bob.example.`);
    }
    if (others.length > 0) throw misuse(where, "expected addresses and one text, in quotes.");
    return { recipients: addresses.map((address) => parseAddress(address) ?? address), text };
  },
};

const SENDING = {
  attach: option(
    text("FILE", "a file such as letter.pdf"),
    "seals this file to the recipients, stores it at your site, and names it in the message; blob get opens it",
  ),
  "no-copy": flag("stores no copy for sent"),
};

export const message = toCommand({
  name: "message",
  summary: "sends and reads private messages",
  about:
    "Messages are sealed and opened on this machine, with the key of your address. Without a TEXT, send reads standard input, or opens $VISUAL or $EDITOR. The first characters of an id are enough.",
  actions: {
    send: action({
      usage: 'ADDRESS... ["TEXT"] [--attach FILE] [--no-copy]',
      help: "seals a message for all recipients and for you, and delivers it. If an inbox cannot be reached, the message waits in the outbox for up to three days; retry and the next send try again",
      options: SENDING,
      words: recipientsAndText,
      run: async (...asked) => (await import("./message/compose.js")).send(...asked),
    }),
    reply: action({
      usage: 'ID ["TEXT"] [--attach FILE] [--no-copy]',
      help: "answers a message in your inbox, as send does; its sender must be verified",
      options: SENDING,
      words: oneAndOptional(ID, text("TEXT", "one text, in quotes")),
      run: async (...asked) => (await import("./message/compose.js")).reply(...asked),
    }),
    list: action({
      usage: "[--threads] [--unread] [--all]",
      help: "lists the newest 50 messages in your inbox, newest first, and whether their senders are verified",
      options: {
        all: flag("shows all of them"),
        threads: flag("groups them by correspondent, with your own copies"),
        unread: flag("lists only messages that you have not opened with read, follow or the client"),
      },
      run: async (...asked) => (await import("./message/read-inbox.js")).list(...asked),
    }),
    read: action({
      usage: ["ID... [--receipts]", "[--all] [--receipts]"],
      help: "shows whole messages, without an ID the newest 50, newest first; they stay in the inbox",
      options: {
        all: flag("shows all of them"),
        receipts: flag("sends read receipts to verified senders, once per message"),
      },
      words: zeroOrMore(ID),
      run: async (...asked) => (await import("./message/read-inbox.js")).read(...asked),
    }),
    follow: action({
      usage: "[--all] [--every SECONDS]",
      help: "shows new messages as they arrive, until Ctrl-C",
      options: {
        all: flag("starts with the messages that are already there"),
        every: withDefault(
          number(5, 86_400, "SECONDS"),
          30,
          "how often to check if the inbox offers no subscription; at least 5",
        ),
      },
      run: async (...asked) => (await import("./message/read-inbox.js")).follow(...asked),
    }),
    delete: action({
      usage: ["ID...", "--unverified"],
      help: "deletes messages from your inbox",
      options: {
        unverified: flag(
          "deletes all messages that list shows as unverified, except those signed with a key that you know; messages shown as key changed stay",
        ),
      },
      words: zeroOrMore(ID),
      run: async (...asked) => (await import("./message/read-inbox.js")).deleteMessages(...asked),
    }),
    block: action({
      usage: ["ADDRESS", "ID"],
      help: "deletes all messages of this sender, also later ones, when list, read or follow opens them. Your host cannot refuse them, because it cannot know who sealed a message",
      words: one(SENDER),
      run: async (...asked) => (await import("./message/read-inbox.js")).block(...asked),
    }),
    unblock: action({
      usage: "ADDRESS",
      help: "shows messages of a sender again",
      words: one(address("bob@bob.example")),
      run: async (...asked) => (await import("./message/read-inbox.js")).unblock(...asked),
    }),
    blocked: action({
      help: "lists the senders that you have blocked",
      run: async (...asked) => (await import("./message/read-inbox.js")).listBlocked(...asked),
    }),
    sent: action({
      usage: "[ID]",
      help: "lists your own copies, or shows the one with this id",
      words: optional(ID),
      run: async (...asked) => (await import("./message/outgoing.js")).sent(...asked),
    }),
    outbox: action({
      help: "lists messages that some recipients have not received yet, and why",
      run: async (...asked) => (await import("./message/outgoing.js")).outbox(...asked),
    }),
    retry: action({
      help: "tries to deliver the whole outbox now, including what has failed",
      run: async (...asked) => (await import("./message/outgoing.js")).retry(...asked),
    }),
    discard: action({
      usage: "ID",
      help: "deletes a message from the outbox, so it is no longer delivered",
      words: one(ID),
      run: async (...asked) => (await import("./message/outgoing.js")).discard(...asked),
    }),
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
