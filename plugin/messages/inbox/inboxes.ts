// plugin/messages/inbox/inboxes.ts: the inboxes of a site's authors, with their handlers and jobs.
import { setMaxListeners } from "node:events";
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { essenceOf, type Handler, json, methodNotAllowed, optionsAnswer, readBody } from "../../http/respond.js";
import { verifyRequest } from "../../http/signature.js";
import { ROUTES } from "../../site/routes.js";
import type { Store } from "../../store/store.js";
import { Deliveries, fullnessOf, type InboxLimits } from "./deliver.js";
import { listMessages } from "./list.js";
import { Shares } from "./share.js";
import { StoredMessages } from "./stored.js";
import { type SubscriptionTerms, subscribe } from "./subscribe.js";

/** The contents of one inbox. */
interface InboxNews {
  user: string;
  /** Oldest first; `created` is `YYYY-MM-DDThh:mm:ss.sssZ`. */
  messages: { id: string; created: string }[];
  /** From 0 to 1. */
  fullness: number;
}

export interface InboxOptions {
  store: Store;
  now: Clock;
  /** Random bytes. */
  random(length: number): Uint8Array;
  /** The authority of signed requests, see {@link verifyRequest}. */
  authority: string;
  /** The public endpoint of a user, an absolute URL. */
  inboxUrl(user: string): string;
  /** The key of each user, `kex1...`, by the name before the `@`. */
  users: ReadonlyMap<string, string>;
  /** Limits of each inbox; `retentionDays` is `null` if messages stay until they are deleted. */
  limits: InboxLimits & { retentionDays: number | null };
  /** Called when a message was stored. */
  onStored?(): void;
  /** `null` if subscriptions are off. */
  subscribe: SubscriptionTerms | null;
  /** Aborted at shutdown, which ends all streams. */
  signal?: AbortSignal;
}

/**
 * The inboxes. The host has no private key and can neither read nor change a message.
 *
 * @see PROTOCOL 3.3, 3.4
 */
export class Inboxes {
  readonly #options: InboxOptions;
  readonly #messages: StoredMessages;
  readonly #shares: Shares;
  readonly #deliveries: Deliveries;
  /** The user's name is the type of an event. */
  readonly #newMessages = new EventTarget();

  constructor(options: InboxOptions) {
    const { store, now } = options;
    this.#options = options;
    this.#messages = new StoredMessages(store, now);
    this.#shares = new Shares(options);
    const onStored = (user: string) => {
      this.#newMessages.dispatchEvent(new Event(user));
      options.onStored?.();
    };
    this.#deliveries = new Deliveries({ ...options, messages: this.#messages, shares: this.#shares, onStored });
    setMaxListeners(0, this.#newMessages);
  }

  /** A user without an inbox gets 404 for any method. */
  readonly handlers: Record<"inbox" | "message", Handler> = {
    inbox: async (request, { params, address }) => this.#atInbox(request, this.#userOf(params.user), address),
    message: async (request, { params }) => this.#atMessage(request, this.#userOf(params.user), params.id ?? ""),
  };

  /** Deletes expired messages and records. @param isOver - when true, nothing more is started */
  async sweep(isOver: () => boolean): Promise<void> {
    const { users, limits } = this.#options;
    for (const user of users.keys()) if (!isOver()) await this.#messages.sweep(user, limits.retentionDays, isOver);
    if (!isOver()) await this.#shares.sweep(isOver);
  }

  /** The contents of each inbox, for notifications. */
  async news(): Promise<InboxNews[]> {
    const { users, limits } = this.#options;
    return Promise.all(
      [...users.keys()].map(async (user) => {
        const stored = await this.#messages.all(user);
        const messages = stored.map(({ id, created }) => ({ id, created: new Date(created).toISOString() }));
        return { user, messages, fullness: fullnessOf(stored, limits) };
      }),
    );
  }

  #userOf(user = ""): string {
    if (this.#options.users.has(user)) return user;
    throw noSuch("inbox");
  }

  async #atInbox(request: Request, user: string, address: string): Promise<Response> {
    const { methods } = ROUTES.inbox;
    switch (request.method) {
      case "POST":
      case "PUT":
        return this.#deliveries.accept(request, user, address);
      case "GET":
      case "HEAD":
        await this.#checkSigned(request, user);
        return wantsStream(request) ? this.#subscribe(request, user) : this.#list(request, user);
      case "OPTIONS":
        return optionsAnswer(methods);
      default:
        return methodNotAllowed(methods);
    }
  }

  /** Deleting a deleted message succeeds; deleting an unknown one fails. PROTOCOL 3.4 */
  async #atMessage(request: Request, user: string, id: string): Promise<Response> {
    const { methods } = ROUTES.message;
    if (request.method === "OPTIONS") return optionsAnswer(methods);
    if (request.method !== "DELETE") return methodNotAllowed(methods);
    await this.#checkSigned(request, user);
    const isThere = (await this.#messages.all(user)).some((message) => message.id === id);
    if (isThere) await this.#messages.delete(user, [id]);
    else if (!/^[0-9a-f]{64}$/.test(id) || !(await this.#messages.wasDeleted(user, id))) throw noSuch("message");
    return json({ deleted: isThere }, { headers: { "cache-control": "no-store" } });
  }

  #list(request: Request, user: string): Promise<Response> {
    return listMessages(request, this.#options.inboxUrl(user), user, this.#messages);
  }

  #subscribe(request: Request, user: string): Promise<Response> {
    const { now, subscribe: terms, signal } = this.#options;
    return subscribe(request, user, { messages: this.#messages, newMessages: this.#newMessages, now, terms, signal });
  }

  /** @throws TwtxtError `not-signed`, or `not-allowed` for another key than the user's own */
  async #checkSigned(request: Request, user: string): Promise<void> {
    const { users, authority, store, now } = this.#options;
    const allowed = new Set([users.get(user) ?? ""]);
    await verifyRequest(request, () => readBody(request, 0), { authority, allowed, store, now });
  }
}

function wantsStream(request: Request): boolean {
  const types = (request.headers.get("accept") ?? "").split(",").map(essenceOf);
  return types.includes("text/event-stream");
}

function noSuch(what: string): TwtxtError {
  return new TwtxtError("not-found", `There is no such ${what}.`);
}
