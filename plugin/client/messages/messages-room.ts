// plugin/client/messages/messages-room.ts: the room of private messages.
import { Hono } from "hono";
import { loadAuthor } from "../../author/author.js";
import { Correspondence, countUnread } from "../../author/messages/correspondence.js";
import { Mailbox } from "../../author/messages/mailbox.js";
import { BackgroundCount, openOnce } from "../background-run.js";
import type { ClientEnv } from "../client-request.js";
import type { CreateRoom } from "../notices.js";
import { addConversations, addDrafts, addSending } from "./conversation-routes.js";
import { addAttachments, addOutbox, MAX_FILE_BYTES } from "./message-items.js";
import { MESSAGES, type RoomParts } from "./message-requests.js";
import { addBlocking, addDeletion, addKeys, addUnverified } from "./sender-pages.js";

const ICON = "M3.5 6h17v12.5h-17zM4 6.5l8 6.5l8-6.5";

const KEYS = [
  { key: "n", does: "writes a message to a new address" },
  { key: "o", does: "opens the conversation" },
  { key: "r", does: "writes in the open conversation" },
  { key: "d", does: "deletes the message, after a question" },
];

/** A form with a file and a long text. */
const MAX_BODY_BYTES = MAX_FILE_BYTES + 2 ** 20;

const PARTS = [
  addConversations,
  addUnverified,
  addDeletion,
  addBlocking,
  addSending,
  addDrafts,
  addAttachments,
  addKeys,
  addOutbox,
];

export const messagesRoom: CreateRoom = (context) => {
  const { machine, choice, ending } = context;
  const { open, opened } = openOnce(
    async (outdated) => Correspondence.open(await Mailbox.open(choice, machine), AbortSignal.any([ending, outdated])),
    // The author may have replaced the key, and built the site with the new one.
    async ({ mailbox }) => (await loadAuthor(choice, machine)).identity.publicKey === mailbox.author.identity.publicKey,
  );
  // Some inboxes delete what was read, so the inbox is opened only when the author visits this room.
  const unread = new BackgroundCount(async () => countUnread((await opened()?.conversations()) ?? []), context);
  const room: RoomParts = { ...context, routes: new Hono<ClientEnv>(), open, unread };
  for (const add of PARTS) add(room);
  const news = () => ({ count: unread.current, what: "unread" });
  return {
    title: "Messages",
    path: MESSAGES,
    icon: ICON,
    keys: KEYS,
    routes: room.routes,
    news,
    maxBodyBytes: MAX_BODY_BYTES,
  };
};
