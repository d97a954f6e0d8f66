// plugin/client/messages/messages.tsx: the room of private messages: conversations, keys of correspondents, and the outbox.
import { type Context, Hono } from "hono";
import { type Conversation, Correspondence } from "../../author/correspondence.js";
import { Mailbox } from "../../author/mailbox.js";
import { TwtxtError } from "../../errors.js";
import { parseAddress } from "../../keys/address.js";
import { guestKeyOf } from "../../keys/guest.js";
import type { RecipientReport } from "../../messages/send/outbox.js";
import { BackgroundCount } from "../background-count.js";
import type { ClientEnv, Notice } from "../client-env.js";
import type { Notices } from "../notices.js";
import { openOnce } from "../open-once.js";
import type { CreateRoom } from "../room.js";
import { ConversationPage, PAGE, UnverifiedPage } from "./conversation.js";
import { ConversationList } from "./conversation-list.js";
import { KeyPage } from "./key-page.js";
import { OutboxPage } from "./outbox-page.js";
import { conversationPath, keyPath, MESSAGES, OUTBOX, UNVERIFIED } from "./paths.js";
import { BlockPage, DeletePage, pathOf } from "./questions.js";

const KEYS = [
  { key: "n", does: "writes a message to a new address" },
  { key: "o", does: "opens the conversation" },
  { key: "r", does: "writes in the open conversation" },
  { key: "d", does: "deletes the message, after a question" },
];

type RoomContext = Context<ClientEnv>;

export const messagesRoom: CreateRoom = (context) => {
  const { machine, choice, ending, notices } = context;
  const { open, opened } = openOnce(async () => Correspondence.open(await Mailbox.open(choice, machine), ending));
  // Some inboxes delete what was read, so the inbox is opened only when the author visits this room.
  const unread = new BackgroundCount(async () => unreadIn((await opened()?.conversations()) ?? []), ending);
  const room: RoomParts = { routes: new Hono<ClientEnv>(), open, unread, notices };
  addList(room);
  addConversations(room);
  addUnverified(room);
  addQuestions(room);
  addKeys(room);
  addOutbox(room);
  const news = () => ({ count: unread.current, what: "unread" });
  return { title: "Messages", path: MESSAGES, keys: KEYS, routes: room.routes, news };
};

function unreadIn(conversations: readonly Conversation[]): number {
  return conversations.reduce((sum, { unread }) => sum + unread, 0);
}

/** Opens the inbox. */
type Open = () => Promise<Correspondence>;

interface RoomParts {
  routes: Hono<ClientEnv>;
  open: Open;
  /** Unread messages of all conversations. */
  unread: BackgroundCount;
  notices: Notices;
}

function addList({ routes, open, unread, notices }: RoomParts): void {
  routes.get("/", async (c) => {
    const correspondence = await open();
    const outbox = await correspondence.mailbox.outbox().list();
    const conversations = await correspondence.conversations();
    unread.set(unreadIn(conversations));
    const { fault, opening } = correspondence;
    const to = c.req.query("to") ?? "";
    const page = <ConversationList {...{ conversations, fault, opening, to }} outbox={outbox.length} />;
    return c.render(page, { title: "Messages" });
  });

  // A form with the address leads to the conversation, which may be new.
  routes.post("/", async (c) => {
    const typed = field(await c.req.parseBody(), "address").trim();
    const address = parseAddress(typed);
    if (address !== null) return c.redirect(conversationPath(address), 303);
    const text = `"${typed.slice(0, 100)}" is not an address such as bob@bob.example.`;
    return notices.redirect(c, `${MESSAGES}?to=${encodeURIComponent(typed)}`, { text, isFailure: true });
  });
}

function addConversations(room: RoomParts): void {
  const { routes, open, notices } = room;
  routes.get("/with/:address", (c) => showConversation(c, room, null));

  routes.post("/with/:address", async (c) => {
    const text = field(await c.req.parseBody(), "text")
      .replace(/\r\n?/g, "\n")
      .trim();
    const { mailbox } = await open();
    const address = addressIn(c);
    try {
      if (text === "") throw new TwtxtError("bad-usage", "The message is empty.");
      const { reports } = await mailbox.send({ recipients: [address], text, keepCopy: true }, () => {});
      return notices.redirect(c, conversationPath(address), {
        text: outcomeOf(reports),
        isFailure: hasFailed(reports),
      });
    } catch (error) {
      // The page shows the text again: nothing that was typed is lost.
      if (error instanceof TwtxtError) return showConversation(c, room, { text, why: error.message });
      throw error;
    }
  });
}

async function showConversation(
  c: RoomContext,
  { open, unread }: RoomParts,
  unsent: { text: string; why: string } | null,
) {
  const correspondence = await open();
  const address = addressIn(c);
  const all = await correspondence.conversations();
  const found = all.find((one) => one.address === address);
  const conversation = found ?? { address, received: [], sent: [], unread: 0 };
  unread.set(unreadIn(all) - conversation.unread);
  const waiting = await waitingFor(address, correspondence.mailbox);
  await correspondence.markRead(conversation);
  const limit = Math.max(PAGE, Math.trunc(Number(c.req.query("show"))) || 0);
  const { fault, opening } = correspondence;
  const page = <ConversationPage {...{ address, conversation, unsent, waiting, limit, fault, opening }} />;
  return c.render(page, { title: guestKeyOf(address) === null ? address : "A guest of your site" });
}

/** The messages whose senders are not certain. */
function addUnverified(room: RoomParts): void {
  const { routes, open } = room;
  const act = actionsOf(room);
  routes.get("/unverified", async (c) => {
    const correspondence = await open();
    const conversation = await correspondence.with(null);
    if (conversation) await correspondence.markRead(conversation);
    return c.render(<UnverifiedPage entries={conversation?.received ?? []} />, { title: "Not verified" });
  });

  act(
    "/unverified",
    () => UNVERIFIED,
    async (_, correspondence) => {
      await correspondence.verifyAgain();
      const left = (await correspondence.with(null))?.received.length ?? 0;
      return { text: left === 0 ? "All senders are verified." : `${left} still not verified.` };
    },
  );
}

/** What deletes messages asks before. */
function addQuestions(room: RoomParts): void {
  const { routes, open } = room;
  const act = actionsOf(room);
  routes.get("/delete", async (c) => {
    const { entry, address } = await (await open()).entry(c.req.query("id") ?? "");
    return c.render(<DeletePage entry={entry} address={address} />, { title: "Delete this message?" });
  });

  act(
    "/delete",
    (fields) => pathOf(parseAddress(fields("address"))),
    async (fields, correspondence) => {
      await correspondence.delete(fields("id"));
      return { text: "The message was deleted from your inbox." };
    },
  );

  routes.get("/block", async (c) => {
    const address = addressOf(c.req.query("address") ?? "");
    const count = (await (await open()).with(address))?.received.length ?? 0;
    return c.render(<BlockPage address={address} count={count} />, { title: "Block this sender?" });
  });

  act(
    "/block",
    () => MESSAGES,
    async (fields, correspondence) => {
      const address = addressOf(fields("address"));
      await correspondence.mailbox.block(address);
      await correspondence.removeBlocked();
      const text = `${address} is blocked. What this sender writes is deleted when it is opened.`;
      return { text, undo: { action: `${MESSAGES}/unblock`, fields: { address } } };
    },
  );

  act(
    "/unblock",
    () => MESSAGES,
    async (fields, { mailbox }) => {
      await mailbox.blocked.unblock(fields("address"));
      return { text: `${fields("address")} is no longer blocked. Deleted messages do not come back.` };
    },
  );
}

function addKeys({ routes, open, notices }: RoomParts): void {
  routes.get("/key/:address", async (c) => {
    const { mailbox } = await open();
    const address = addressIn(c);
    const page = <KeyPage comparison={await mailbox.compareKey(address)} />;
    return c.render(page, { title: `The key of ${address}` });
  });

  routes.post("/key/:address", async (c) => {
    const address = addressIn(c);
    const key = field(await c.req.parseBody(), "key");
    return notices.act(c, keyPath(address), async () => {
      const correspondence = await open();
      await correspondence.mailbox.acceptKey(address, key);
      await correspondence.verifyAgain();
      return { text: `You have accepted this key of ${address}.` };
    });
  });
}

function addOutbox(room: RoomParts): void {
  const { routes, open } = room;
  const act = actionsOf(room);
  routes.get("/outbox", async (c) => {
    const { mailbox } = await open();
    return c.render(<OutboxPage entries={await mailbox.outbox().list()} keys={mailbox.keys} />, { title: "Outbox" });
  });

  act(
    "/outbox/retry",
    () => OUTBOX,
    async (_, { mailbox }) => {
      const reports = await mailbox.outbox().retry({ all: true });
      return { text: reports.length === 0 ? "The outbox has nothing to retry." : outcomeOf(reports) };
    },
  );

  act(
    "/outbox/discard",
    () => OUTBOX,
    async (fields, { mailbox }) => {
      const wasThere = await mailbox.outbox().discard(fields("id"));
      return { text: wasThere ? "The message is no longer delivered." : "The message was no longer in the outbox." };
    },
  );
}

/** @returns a function that adds an action: its path, the page that it leads to, and what it does */
function actionsOf({ routes, open, notices }: RoomParts) {
  return (
    path: string,
    goesTo: (fields: Fields) => string,
    work: (fields: Fields, all: Correspondence) => Promise<Notice>,
  ) =>
    routes.post(path, async (c) => {
      const body = await c.req.parseBody();
      const fields = (name: string) => field(body, name);
      return notices.act(c, goesTo(fields), async () => work(fields, await open()));
    });
}

type Fields = (name: string) => string;

function field(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  return typeof value === "string" ? value : "";
}

/** @throws TwtxtError `bad-address` */
function addressIn(c: RoomContext): string {
  return addressOf(c.req.param("address") ?? "");
}

/** @throws TwtxtError `bad-address` */
function addressOf(text: string): string {
  const address = parseAddress(text);
  if (address !== null) return address;
  throw new TwtxtError("bad-address", `"${text.slice(0, 100)}" is not an address such as bob@bob.example.`);
}

async function waitingFor(address: string, mailbox: Mailbox): Promise<number> {
  const isWaiting = (one: { address: string; state: string }) => one.address === address && one.state !== "delivered";
  return (await mailbox.outbox().list()).filter(({ recipients }) => recipients.some(isWaiting)).length;
}

function hasFailed(reports: readonly RecipientReport[]): boolean {
  return reports.some(({ state }) => state === "failed");
}

function outcomeOf(reports: readonly RecipientReport[]): string {
  return reports
    .map(({ address, state, why }) => {
      if (state === "delivered") return `Delivered to ${address}.`;
      const what = state === "failed" ? "Not delivered" : "Not delivered yet";
      return `${what} to ${address}: ${why ?? "delivery is in progress"}. The message is in the outbox.`;
    })
    .join(" ");
}
