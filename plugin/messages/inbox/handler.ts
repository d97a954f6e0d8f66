// plugin/messages/inbox/handler.ts: the endpoints of inboxes and their messages.
import { TwtxtError } from "../../errors.js";
import { essenceOf, type Handler, json, methodNotAllowed, optionsAnswer } from "../../http/respond.js";
import { ROUTES } from "../../site/routes.js";
import type { StoredMessages } from "./stored.js";

/** The handlers of inboxes. A user without an inbox gets 404 for any method. */
export type InboxHandlers = Record<"inbox" | "message", Handler>;

export interface InboxParts {
  hasInbox(user: string): boolean;
  messages: StoredMessages;
  /** @throws TwtxtError `not-signed`, or `not-allowed` for another key than the user's own */
  checkSigned(request: Request, user: string): Promise<void>;
  deliver(request: Request, user: string, address: string): Promise<Response>;
  list(request: Request, user: string): Promise<Response>;
  subscribe(request: Request, user: string): Promise<Response>;
}

export function inboxHandlers(parts: InboxParts): InboxHandlers {
  const userOf = ({ user = "" }: Readonly<Record<string, string>>) => {
    if (!parts.hasInbox(user)) throw noSuch("inbox");
    return user;
  };
  return {
    inbox: async (request, { params, address }) => atInbox(parts, request, userOf(params), address),
    message: async (request, { params }) => atMessage(parts, request, userOf(params), params.id ?? ""),
  };
}

async function atInbox(parts: InboxParts, request: Request, user: string, address: string): Promise<Response> {
  const { methods } = ROUTES.inbox;
  switch (request.method) {
    case "POST":
    case "PUT":
      return parts.deliver(request, user, address);
    case "GET":
    case "HEAD":
      await parts.checkSigned(request, user);
      return wantsStream(request) ? parts.subscribe(request, user) : parts.list(request, user);
    case "OPTIONS":
      return optionsAnswer(methods);
    default:
      return methodNotAllowed(methods);
  }
}

/** Deleting a deleted message succeeds; deleting an unknown one fails. PROTOCOL 3.4 */
async function atMessage(
  { messages, checkSigned }: InboxParts,
  request: Request,
  user: string,
  id: string,
): Promise<Response> {
  const { methods } = ROUTES.message;
  if (request.method === "OPTIONS") return optionsAnswer(methods);
  if (request.method !== "DELETE") return methodNotAllowed(methods);
  await checkSigned(request, user);
  const isThere = (await messages.all(user)).some((message) => message.id === id);
  if (isThere) await messages.delete(user, [id]);
  else if (!/^[0-9a-f]{64}$/.test(id) || !(await messages.wasDeleted(user, id))) throw noSuch("message");
  return json({ deleted: isThere }, { headers: { "cache-control": "no-store" } });
}

function wantsStream(request: Request): boolean {
  const types = (request.headers.get("accept") ?? "").split(",").map(essenceOf);
  return types.includes("text/event-stream");
}

function noSuch(what: string): TwtxtError {
  return new TwtxtError("not-found", `There is no such ${what}.`);
}
