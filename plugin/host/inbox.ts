// plugin/host/inbox.ts: wires the inboxes of a site.
import { randomBytes } from "node:crypto";
import { shortKey } from "../keys/guest.js";
import { type GuestOptions, Inboxes, type InboxOptions } from "../messages/inbox/inboxes.js";
import { sleep } from "../store/retry.js";
import type { ServiceOptions } from "./service-options.js";

const MIB = 2 ** 20;

type Options = Pick<
  ServiceOptions,
  "settings" | "store" | "authority" | "now" | "log" | "isMetered" | "streams" | "ending"
>;

/**
 * @param onStored - called when a message to an author was stored
 * @returns inboxes without users for a site that has none
 */
export function inboxServices({ settings, streams, ending, log, ...options }: Options, onStored: () => void): Inboxes {
  const { inbox, authors, urls } = settings;
  const users = new Map(authors.filter(({ user }) => inbox?.users.includes(user)).map(({ user, key }) => [user, key]));
  return new Inboxes({
    store: options.store,
    now: options.now,
    random: randomBytes,
    authority: options.authority,
    inboxUrl: (user) => `${urls.inbox}/${user}`,
    users,
    limits: {
      messages: inbox?.messages ?? 0,
      bytes: (inbox?.megabytes ?? 0) * MIB,
      retentionDays: inbox?.retentionDays || null,
    },
    guests: guestOptions({ settings, ...options }),
    onStored(message) {
      log(lineAbout(message));
      if (!message.isGuest) onStored();
    },
    subscribe: (inbox?.subscribe ?? streams.isDefault) ? { ...streams, sleep } : null,
    ...(ending && { signal: ending }),
  });
}

/** Guests have no streams where the owner pays for each second: anyone can be a guest. */
function guestOptions({ settings, isMetered }: Pick<Options, "settings" | "isMetered">): GuestOptions | null {
  const { inbox, authors } = settings;
  const hasStreams = !isMetered;
  return inbox?.guests ? { ...inbox.guests, authors: new Set(authors.map(({ key }) => key)), hasStreams } : null;
}

/** @example "A new message for alice, 1.2 kB." */
function lineAbout({ user, isGuest, size }: Parameters<NonNullable<InboxOptions["onStored"]>>[0]): string {
  return `A new message for ${isGuest ? `guest ${shortKey(user)}` : user}, ${(size / 1000).toFixed(1)} kB.`;
}
