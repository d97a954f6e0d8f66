// plugin/host/inbox.ts: wires the inboxes of a site.
import { randomBytes } from "node:crypto";
import { Inboxes } from "../messages/inbox/inboxes.js";
import type { ServiceOptions } from "./service-options.js";
import { sleep } from "./work.js";

const MIB = 2 ** 20;

type Options = Pick<ServiceOptions, "settings" | "store" | "authority" | "now" | "streams" | "ending">;

/**
 * @param onStored - called when a message was stored
 * @returns inboxes without users for a site that has none
 */
export function inboxServices({ settings, streams, ending, ...options }: Options, onStored: () => void): Inboxes {
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
    onStored,
    subscribe: (inbox?.subscribe ?? streams.isDefault) ? { ...streams, sleep } : null,
    ...(ending && { signal: ending }),
  });
}
