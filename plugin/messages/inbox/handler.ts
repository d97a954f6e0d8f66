// plugin/messages/inbox/handler.ts: what is answered at the endpoint of each user, and below it for each message.
import { TwtxtError } from "../../errors.js";
import { essenceOf } from "../../http/media-type.js";
import { type Client, type Handler, json, methodNotAllowed } from "../../http/respond.js";
import type { StoredMessages } from "./stored.js";

const METHODS = ["GET", "HEAD", "POST", "PUT", "OPTIONS"];
const METHODS_OF_MESSAGE = ["DELETE", "OPTIONS"];

/** Where nobody of that name has an inbox, nothing else is looked at. */
export function inboxHandler(parts: InboxParts): Handler {
  return async (request, client) => {
    const { pathname } = new URL(request.url);
    const user = parts.userAt(pathname);
    if (user !== undefined) return atInbox(parts, request, user, client);
    const slash = pathname.lastIndexOf("/");
    const [owner, id] = [parts.userAt(pathname.slice(0, slash)), pathname.slice(slash + 1)];
    if (owner !== undefined && id !== "") return atMessage(parts, request, owner, id);
    throw noSuch("inbox");
  };
}

export interface InboxParts {
  /** Whose endpoint has this path. */
  userAt(path: string): string | undefined;
  messages: StoredMessages;
  /** @throws TwtxtError `not-signed`, or `not-allowed` for another key than the user's own */
  checkSigned(request: Request, user: string): Promise<void>;
  deliver(request: Request, user: string, client: Client | undefined): Promise<Response>;
  list(request: Request, user: string): Promise<Response>;
  subscribe(request: Request, user: string): Promise<Response>;
}

async function atInbox(parts: InboxParts, request: Request, user: string, client: Client | undefined) {
  switch (request.method) {
    case "POST":
    case "PUT":
      return parts.deliver(request, user, client);
    case "GET":
    case "HEAD":
      await parts.checkSigned(request, user);
      return wantsStream(request) ? parts.subscribe(request, user) : parts.list(request, user);
    case "OPTIONS":
      return allowing(METHODS);
    default:
      return methodNotAllowed(METHODS);
  }
}

/** Deleting what is deleted already is no mistake; what never was here is one. PROTOCOL 3.4. */
async function atMessage({ messages, checkSigned }: InboxParts, request: Request, user: string, id: string) {
  if (request.method === "OPTIONS") return allowing(METHODS_OF_MESSAGE);
  if (request.method !== "DELETE") return methodNotAllowed(METHODS_OF_MESSAGE);
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

function allowing(methods: readonly string[]): Response {
  return new Response(null, { status: 204, headers: { allow: methods.join(", ") } });
}

function noSuch(what: string): TwtxtError {
  return new TwtxtError("not-found", `There is no such ${what}.`);
}
