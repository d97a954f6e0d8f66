// plugin/host/inbox.ts: wires the inboxes of a site.
import { shortKey } from "../keys/guest.js";
import { later } from "../later.js";
import { Inboxes } from "../messages/inbox/inboxes.js";
import { sleep } from "../store/retry.js";
import type { ServiceOptions } from "./service-options.js";
import { attempt } from "./work.js";

const answerWiring = later(() => import("./answers.js"));

const MIB = 2 ** 20;

type Options = Pick<
  ServiceOptions,
  "settings" | "store" | "authority" | "now" | "log" | "isMetered" | "streams" | "ending" | "background"
>;

/**
 * @param onStored - called when a message to an author was stored
 * @returns inboxes without users for a site that has none
 */
export function inboxServices({ settings, streams, ending, log, ...options }: Options, onStored: () => void): Inboxes {
  const { inbox, authors, urls } = settings;
  const users = new Map(authors.filter(({ user }) => inbox?.users.includes(user)).map(({ user, key }) => [user, key]));
  const noteMessage = async (guest: string) => (await answerWiring()).openReaders(options).readers.noteMessage(guest);
  return new Inboxes({
    store: options.store,
    now: options.now,
    authority: options.authority,
    inboxUrl: (user) => `${urls.inbox}/${user}`,
    users,
    limits: {
      messages: inbox?.messages ?? 0,
      bytes: (inbox?.megabytes ?? 0) * MIB,
      retentionDays: inbox?.retentionDays || null,
    },
    // Guests have no streams where the owner pays for each second: anyone can be a guest.
    guests: inbox?.guests
      ? { ...inbox.guests, authors: new Set(authors.map(({ key }) => key)), hasStreams: !options.isMetered }
      : null,
    onStored({ user, isGuest, size }) {
      log(`A new message for ${isGuest ? `guest ${shortKey(user)}` : user}, ${(size / 1000).toFixed(1)} kB.`);
      if (!isGuest) onStored();
      else if (inbox?.guests?.mail) options.background(attempt("Noting a message", () => noteMessage(user), log));
    },
    subscribe: (inbox?.subscribe ?? streams.isDefault) ? { ...streams, sleep } : null,
    ...(ending && { signal: ending }),
  });
}
