// plugin/host/inbox-services.ts: the inboxes of a site, wired: they need no more than a store and a clock.
import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { answering, type Handler } from "../http/respond.js";
import { type Inboxes, inboxes } from "../messages/inbox/inboxes.js";
import type { ServiceOptions } from "./service-options.js";

const MIB = 2 ** 20;

/** What a host runs for the inboxes of a site. */
export interface InboxServices extends Omit<Inboxes, "handler"> {
  /** `/inbox/<user>` and `/inbox/<user>/<id>` */
  inbox: Handler;
}

interface Options
  extends Pick<ServiceOptions, "settings" | "store" | "authority" | "now" | "log" | "streams" | "ending"> {
  /** Called when a message was stored. */
  onStored(): void;
}

/** @returns inboxes without users for a site that has none */
export function inboxServices(options: Options): InboxServices {
  const { settings, store, authority, now, log, streams, ending, onStored } = options;
  const { inbox, authors, urls } = settings;
  const users = new Map(authors.filter(({ user }) => inbox?.users.includes(user)).map(({ user, key }) => [user, key]));
  const isStreaming = inbox?.subscribe ?? streams.isUsual;
  const { handler, ...others } = inboxes({
    store,
    now,
    random: randomBytes,
    authority,
    inboxUrl: (user) => `${urls.inbox}/${user}`,
    users,
    limits: {
      messages: inbox?.messages ?? 0,
      bytes: (inbox?.megabytes ?? 0) * MIB,
      retentionDays: inbox?.retentionDays || null,
    },
    onStored,
    subscribe: isStreaming ? { ...streams, sleep } : null,
    ...(ending && { signal: ending }),
  });
  return { ...others, inbox: answering(handler, log) };
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
}
