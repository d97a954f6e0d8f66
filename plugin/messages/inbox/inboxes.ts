// plugin/messages/inbox/inboxes.ts: the inboxes of a site's authors, with their handlers and jobs.
import type { Clock } from "../../clock.js";
import { readBody } from "../../http/respond.js";
import { verifyRequest } from "../../http/signature.js";
import type { Store } from "../../store/store.js";
import { createDeliver, fullnessOf, type InboxLimits } from "./deliver.js";
import { type InboxHandlers, inboxHandlers } from "./handler.js";
import { createList } from "./list.js";
import { NewMessageEvents } from "./new-message-events.js";
import { Shares } from "./share.js";
import { StoredMessages } from "./stored.js";
import { createSubscribe, type SubscriptionTerms } from "./subscribe.js";

export interface Inboxes {
  handlers: InboxHandlers;
  /** Deletes expired messages and records. @param isOver - when true, nothing more is started */
  sweep(isOver: () => boolean): Promise<void>;
  /** The contents of each inbox, for notifications. */
  news(): Promise<InboxNews[]>;
}

/** The contents of one inbox. */
export interface InboxNews {
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
 * Creates the inboxes. The host has no private key and can neither read nor change a message.
 *
 * @see PROTOCOL 3.3, 3.4
 */
export function inboxes(options: InboxOptions): Inboxes {
  const { store, now, random, authority, inboxUrl, users, limits, signal } = options;
  const messages = new StoredMessages(store, now);
  const shares = new Shares({ store, now, random, limits });
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
      deliver: createDeliver({ messages, shares, limits, now, onStored }),
      list: createList(messages, inboxUrl),
      subscribe: createSubscribe({ messages, newMessages, now, terms: options.subscribe, signal }),
    }),

    async sweep(isOver) {
      for (const user of users.keys()) if (!isOver()) await messages.sweep(user, limits.retentionDays, isOver);
      if (!isOver()) await shares.sweep(isOver);
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
