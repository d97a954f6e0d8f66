// plugin/messages/inbox/inboxes.ts: the inboxes of a site's authors and guests, with their handlers and jobs.
import { setMaxListeners } from "node:events";
import type { Clock, JobRun } from "../../clock.js";
import { mapInParallel } from "../../concurrency.js";
import { TwtxtError } from "../../errors.js";
import { remember } from "../../groups.js";
import { DailyShares } from "../../http/daily-shares.js";
import { isNonceSpent, type Nonce, spendNonce } from "../../http/nonces.js";
import {
  allowing,
  type Handler,
  type HttpRequest,
  type HttpResponse,
  json,
  type RequestContext,
  readBody,
  readEssence,
} from "../../http/respond.js";
import { nonceUsed, verifyHead, verifyRequest } from "../../http/signature.js";
import { isKeyText } from "../../keys/key.js";
import { GUEST_DAYS } from "../../options/inbox.js";
import { ROUTES } from "../../site/routes.js";
import type { Store } from "../../store/store.js";
import { MESSAGE_BYTES } from "../sealed-bytes.js";
import { Admission, type InboxLimits } from "./admission.js";
import { acceptMessage, bodyOfMessage, type DeliveryParts, measureFullness } from "./deliver.js";
import { listMessages } from "./list.js";
import { StoredMessages } from "./stored.js";
import { type OpenStreams, type SubscriptionTerms, subscribe } from "./subscribe.js";

/** Streams that all guests can have open: anyone can make a key and open one. Without a stream, a guest polls the list. */
const MAX_GUEST_STREAMS = 100;

/** The inboxes of guests, which only the authors fill. PROTOCOL 3.5 */
export interface GuestOptions {
  /** The authors' keys, `kex1...`. */
  authors: ReadonlySet<string>;
  /** Messages that each inbox holds. */
  messages: number;
  /** Days until a message is deleted. */
  days: number;
  /** Whether guests can subscribe, if the authors can. */
  hasStreams: boolean;
}

export interface InboxOptions {
  store: Store;
  now: Clock;
  /** The authority of signed requests, see {@link verifyRequest}. */
  authority: string;
  /** The public endpoint of a user, an absolute URL. */
  inboxUrl(user: string): string;
  /** The key of each author, `kex1...`, by the name before the `@`. */
  users: ReadonlyMap<string, string>;
  /** Limits of each author's inbox; `retentionDays` is `null` if messages stay until they are deleted. */
  limits: InboxLimits & { retentionDays: number | null };
  /** `null` for a site without guests. */
  guests: GuestOptions | null;
  /**
   * Called when a message was stored.
   *
   * @param user - an author's name, or the key of a guest
   * @param size - in bytes
   */
  onStored?(message: { user: string; isGuest: boolean; size: number }): void;
  /** `null` if subscriptions are off. */
  subscribe: SubscriptionTerms | null;
  /** Aborted at shutdown, which ends all streams. */
  signal?: AbortSignal;
}

/** The inbox of an author or a guest. */
interface Inbox {
  /** The last segment of its URL. */
  user: string;
  /** The key that reads it, `kex1...`. */
  key: string;
  /** `null` for an author's inbox. */
  guests: GuestOptions | null;
}

/** The inboxes. The host has no private key and can neither read nor change a message. @see PROTOCOL 3.3, 3.4, 3.5 */
export class Inboxes {
  readonly #messages: StoredMessages;
  readonly #shares: DailyShares;
  readonly #deliveryParts: DeliveryParts;
  readonly #authorStreams: OpenStreams = { count: 0 };
  readonly #guestStreams: OpenStreams = { count: 0 };
  /** The user's name is the type of an event. */
  readonly #newMessages = new EventTarget();

  constructor(private readonly options: InboxOptions) {
    const { store, now, users } = options;
    this.#messages = new StoredMessages(store, now);
    this.#shares = new DailyShares({ ...options, root: "inbox" });
    const onStored = (user: string, size: number) => {
      this.#newMessages.dispatchEvent(new Event(user));
      options.onStored?.({ user, isGuest: !users.has(user), size });
    };
    const parts = { messages: this.#messages, shares: this.#shares, now };
    this.#deliveryParts = { ...parts, admission: new Admission(parts), onStored };
    setMaxListeners(0, this.#newMessages);
  }

  readonly handlers: Record<"inbox" | "message", Handler> = {
    inbox: this.#handler("inbox", (request, inbox, { address }) => this.#atInbox(request, inbox, address)),
    message: this.#handler("message", (request, inbox, { params }) => this.#delete(request, inbox, params.id ?? "")),
  };

  async sweep(run: JobRun): Promise<void> {
    const { users, limits, guests, store } = this.options;
    // One listing, which has the salts of senders too.
    const keys = await store.keys("inbox");
    const keysByUser = new Map([...users.keys()].map((user): [string, string[]] => [user, []]));
    for (const key of keys.filter((one) => one.startsWith("inbox/"))) {
      remember(keysByUser, key.split("/")[1] ?? "", () => []).push(key);
    }
    for (const [user, own] of keysByUser) {
      if (run.isOver()) return;
      // What guests had before they were turned off expires, too.
      const guestDays = isKeyText(user) ? (guests?.days ?? GUEST_DAYS) : null;
      await this.#messages.sweep(user, own, users.has(user) ? limits.retentionDays : guestDays, run);
    }
    await this.#shares.sweep(keys, run.isOver);
  }

  /** The messages of each author's inbox, oldest first, and how full it is, from 0 to 1. For notifications. */
  async news() {
    const { users, limits } = this.options;
    return mapInParallel([...users.keys()], users.size, async (user) => {
      const stored = await this.#messages.all(user);
      const messages = stored.map(({ id, created }) => ({ id, created: new Date(created).toISOString() }));
      return { user, messages, fullness: measureFullness(stored, limits) };
    });
  }

  /** A user without an inbox gets 404 for any method. */
  #handler(
    route: "inbox" | "message",
    answer: (request: HttpRequest, inbox: Inbox, asked: RequestContext) => Promise<HttpResponse>,
  ): Handler {
    return async (request, asked) => {
      const inbox = this.#openInbox(asked.params.user);
      return allowing(ROUTES[route].methods, () => answer(request, inbox, asked))(request, asked);
    };
  }

  /** @throws TwtxtError `not-found` */
  #openInbox(user = ""): Inbox {
    const { users, guests } = this.options;
    const key = users.get(user);
    if (key !== undefined) return { user, key, guests: null };
    if (guests && isKeyText(user)) return { user, key: user, guests };
    throw noSuch("inbox");
  }

  async #atInbox(request: HttpRequest, inbox: Inbox, address: string): Promise<HttpResponse> {
    const { user, guests } = inbox;
    const { limits, inboxUrl } = this.options;
    if (request.method === "GET" || request.method === "HEAD") {
      await this.#checkSigned(request, inbox);
      const types = (request.headers.get("accept") ?? "").split(",").map(readEssence);
      if (types.includes("text/event-stream")) return this.#subscribe(request, inbox);
      return listMessages(request, inboxUrl(user), user, this.#messages);
    }
    if (guests) return this.#deliverToGuest(request, user, guests);
    return acceptMessage(await bodyOfMessage(request), { user, limits, address }, this.#deliveryParts);
  }

  /** @throws TwtxtError `not-signed`, or `not-allowed` for another key than an author's */
  async #deliverToGuest(
    request: HttpRequest,
    user: string,
    { authors, messages }: GuestOptions,
  ): Promise<HttpResponse> {
    const { authority, store, now } = this.options;
    const policy = { authority, allowed: authors, store, now };
    const { body } = await verifyRequest(request, () => bodyOfMessage(request), policy);
    const limits = { messages, bytes: messages * MESSAGE_BYTES };
    return acceptMessage(body, { user, limits, address: null }, this.#deliveryParts);
  }

  /** Deleting a deleted message succeeds; deleting an unknown one fails. PROTOCOL 3.4 */
  async #delete(request: HttpRequest, inbox: Inbox, id: string): Promise<HttpResponse> {
    const nonce = await this.#checkSigned(request, inbox);
    const { user } = inbox;
    const { store } = this.options;
    const message = /^[0-9a-f]{64}$/.test(id) ? await this.#messages.find(user, id) : null;
    if (message === null) throw noSuch("message");
    const isThere = message !== "deleted";
    // Only the deletion of a stored message stores its nonce: anyone can make a guest's key and sign any number of requests.
    const isNew = isThere ? await spendNonce(store, nonce) : !(await isNonceSpent(store, nonce));
    if (!isNew) throw nonceUsed();
    if (isThere) await this.#messages.delete(user, [message]);
    return json({ deleted: isThere }, { headers: { "cache-control": "no-store" } });
  }

  #subscribe(request: HttpRequest, { user, guests }: Inbox): Promise<HttpResponse> {
    const { now, subscribe: terms, signal } = this.options;
    const openStreams = guests ? this.#guestStreams : this.#authorStreams;
    const isOffered = !guests || (guests.hasStreams && openStreams.count < MAX_GUEST_STREAMS);
    const parts = { messages: this.#messages, newMessages: this.#newMessages, now, signal, openStreams };
    return subscribe(request, user, { ...parts, terms: isOffered ? terms : null });
  }

  /** @throws TwtxtError `not-signed`, or `not-allowed` for another key than that of the inbox */
  async #checkSigned(request: HttpRequest, { key }: Inbox): Promise<Nonce> {
    const { authority, now } = this.options;
    const { nonce, checkBody } = await verifyHead(request, { authority, allowed: new Set([key]), now });
    await checkBody(readBody(request, 0));
    return nonce;
  }
}

function noSuch(what: string): TwtxtError {
  return new TwtxtError("not-found", `There is no such ${what}.`);
}
