// plugin/messages/inbox/inboxes.ts: the inboxes of a site's authors: what they answer, and what has to be done for them.
import type { Clock } from "../../clock.js";
import { readBody } from "../../http/respond.js";
import { verifyRequest } from "../../http/signature.js";
import type { Store } from "../../store/store.js";
import { delivering, fullnessOf, type InboxLimits } from "./deliver.js";
import { type InboxHandlers, inboxHandlers } from "./handler.js";
import { listing } from "./list.js";
import { NewMessageEvents } from "./new-message-events.js";
import { shares } from "./share.js";
import { storedMessages } from "./stored.js";
import { type SubscriptionTerms, subscribing } from "./subscribe.js";

/** The inboxes of a site. */
export interface Inboxes {
  handlers: InboxHandlers;
  /** Forgets what is to be forgotten. @param isOver - nothing more is started once this holds */
  sweep(isOver: () => boolean): Promise<void>;
  /** What lies in each inbox, for whoever tells its owner. */
  news(): Promise<InboxNews[]>;
}

/** What lies in one inbox. */
export interface InboxNews {
  user: string;
  /** Oldest first; `created` is `YYYY-MM-DDThh:mm:ss.sssZ`. */
  messages: { id: string; created: string }[];
  /** What is taken of its room, from 0 to 1. */
  fullness: number;
}

export interface InboxOptions {
  store: Store;
  now: Clock;
  /** Random bytes. */
  random(length: number): Uint8Array;
  /** What signed requests must be meant for, see {@link verifyRequest}. */
  authority: string;
  /** The endpoint of a user as everybody knows it, an absolute URL. */
  inboxUrl(user: string): string;
  /** The key of each user, `kex1...`, by the name before the `@`. */
  users: ReadonlyMap<string, string>;
  /** Of each inbox; `retentionDays` is `null` where messages stay until they are deleted. */
  limits: InboxLimits & { retentionDays: number | null };
  /** Called when a message was stored. */
  onStored?(): void;
  /** `null` where nobody can subscribe. */
  subscribe: SubscriptionTerms | null;
  /** Aborted when the host ends: streams end with it. */
  signal?: AbortSignal;
}

/**
 * The host can neither read nor change a message, and holds no private key.
 *
 * @see PROTOCOL 3.3, 3.4
 */
export function inboxes(options: InboxOptions): Inboxes {
  const { store, now, random, authority, inboxUrl, users, limits, signal } = options;
  const messages = storedMessages(store, now);
  const senders = shares({ store, now, random, limits });
  const newMessages = new NewMessageEvents();
  const onStored = (user: string) => {
    newMessages.emit(user);
    options.onStored?.();
  };

  return {
    handlers: inboxHandlers({
      hasInbox: (user) => users.has(user),
      messages,
      async checkSigned(request, user) {
        const allowed = new Set([users.get(user) ?? ""]);
        await verifyRequest(request, () => readBody(request, 0), { authority, allowed, store, now });
      },
      deliver: delivering({ messages, shares: senders, limits, now, onStored }),
      list: listing(messages, inboxUrl),
      subscribe: subscribing({ messages, newMessages, now, terms: options.subscribe, signal }),
    }),

    async sweep(isOver) {
      for (const user of users.keys()) if (!isOver()) await messages.sweep(user, limits.retentionDays, isOver);
      if (!isOver()) await senders.sweep(isOver);
    },

    async news() {
      const stored = await Promise.all(
        [...users.keys()].map(async (user) => ({ user, all: await messages.all(user) })),
      );
      return stored.map(({ user, all }) => ({
        user,
        messages: all.map(({ id, created }) => ({ id, created: new Date(created).toISOString() })),
        fullness: fullnessOf(all, limits),
      }));
    },
  };
}
