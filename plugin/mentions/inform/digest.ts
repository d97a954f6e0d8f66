// plugin/mentions/inform/digest.ts: tells the author of new mentions, by mail and by a webhook.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Log } from "../../http/respond.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { ListMentions, StoredMention } from "../mention.js";
import { digestMail, digestNote, type News } from "./digest-text.js";
import type { SendMail } from "./mail.js";
import type { PostNote } from "./webhook.js";

/** More than anybody gets in an interval; what is older is told no more. */
const NEWS_LIMIT = 10_000;
/** So long one run may take to send before another takes over. */
const LEASE = 10 * 60_000;
const HOUR = 3600_000;
/** A mention may show up in the list a while after the time that it carries. */
const OVERLAP = 24 * HOUR;

/** From here on an author is told that an inbox is nearly full. PROTOCOL 3.3 */
const NEARLY_FULL = 0.8;

/** What an author has been told through one channel. Times are milliseconds since 1970, but for `since`. */
const Told = v.object({
  at: v.nullable(v.number()),
  /** What came earlier was told: `YYYY-MM-DDThh:mm:ss.sssZ`. */
  since: v.string(),
  /** What came later and was told all the same. */
  ids: v.array(v.string()),
  /** What some run has set out to tell, and from when on another one may take that up. */
  begun: v.nullable(v.object({ ids: v.array(v.string()), until: v.number() })),
  /** Of each inbox: when the newest message came that was told of, and whether it was told that there is little room. */
  inboxes: v.optional(v.record(v.string(), v.object({ newest: v.string(), isFull: v.boolean() })), {}),
});

type Told = v.InferOutput<typeof Told>;

const NOTHING_YET: Told = { at: null, since: "", ids: [], begun: null, inboxes: {} };

/** What lies in one inbox. */
export interface InboxState {
  user: string;
  /** Oldest first; `created` is `YYYY-MM-DDThh:mm:ss.sssZ`. */
  messages: readonly { created: string }[];
  /** From 0 to 1. */
  fullness: number;
}

/** One way of telling the author. */
interface Channel {
  name: string;
  key: string;
  /** At least so many milliseconds lie between two tellings. */
  pause: number;
  send(news: News): Promise<void>;
}

/**
 * Tells what is new since the last time: by mail at most once in `digestHours`, by webhook once in each call. To be called
 * every hour.
 *
 * Everything is told at least once. What fails, or was cut short by the end of the process, is told again as it was by a
 * later call; only where it had arrived in spite of that does the author see it twice, and a mail has the same Message-ID
 * then. Of two calls at once one alone tells.
 *
 * @throws TwtxtError `store-failed`; a mail or webhook that fails is logged
 * @see PROTOCOL 2.5
 */
export async function informAuthor(parts: InformParts): Promise<void> {
  const { mail, webhook, page, digestHours } = parts;
  if (mail) {
    const send = (news: News) => mail(digestMail(news, page));
    await tell({ name: "mail", key: "inform/digest", pause: digestHours * HOUR, send }, parts);
  }
  if (webhook) {
    const send = (news: News) => webhook(digestNote(news, page));
    await tell({ name: "webhook", key: "inform/webhook", pause: 0, send }, parts);
  }
}

export interface InformParts {
  list: ListMentions;
  /** What lies in the inboxes of the site, message by message, oldest first; none for a site without. */
  inboxes(): Promise<InboxState[]>;
  store: Store;
  /** Milliseconds since 1970. */
  now(): number;
  mail?: SendMail | undefined;
  webhook?: PostNote | undefined;
  digestHours: number;
  /** Where the author sees all mentions: an absolute URL of the site. */
  page: string;
  log: Log;
}

async function tell(channel: Channel, { list, inboxes, store, now, log }: InformParts): Promise<void> {
  const stored = await readJson(store, channel.key, Told);
  const told = stored?.value ?? NOTHING_YET;
  if (!isDue(told, channel, now())) return;

  const recent = (await list({ limit: NEWS_LIMIT })).mentions.filter(({ received }) => received >= told.since);
  const mentions = newsOf(recent, told);
  const { sealed, filling, after: inboxesTold } = inboxNews(await inboxes(), told.inboxes);
  if (mentions.length === 0 && sealed === 0 && filling.length === 0) {
    // Where there is room again, the next time that it gets scarce is news.
    const isEmptied = JSON.stringify(inboxesTold) !== JSON.stringify(told.inboxes);
    if (stored && isEmptied) await writeJson(store, channel.key, { ...told, inboxes: inboxesTold }, stored);
    return;
  }

  const ids = mentions.map(({ id }) => id);
  const begun = { ...told, begun: { ids, until: now() + LEASE } };
  const etag = await writeJson(store, channel.key, begun, stored ? { etag: stored.etag } : { isNew: true });
  if (etag === null) return;

  const id = idOf([...ids, JSON.stringify(inboxesTold)]);
  const after = await channel.send({ id, mentions, sealed, filling }).then(
    () => ({ ...toldNow(recent, [...told.ids, ...ids], now()), inboxes: inboxesTold }),
    (error: Error) => {
      log(`You could not be notified by ${channel.name}; the next run tries again. ${error.message}`);
      return { ...begun, begun: { ids, until: now() } };
    },
  );
  await writeJson(store, channel.key, after, { etag });
}

function isDue({ at, begun }: Told, { pause }: Channel, now: number): boolean {
  return (begun === null || now >= begun.until) && (at === null || now >= at + pause);
}

/** What was begun comes first, and alone, so that it is the same as before. */
function newsOf(recent: readonly StoredMention[], { ids, begun }: Told): StoredMention[] {
  const again = new Set(begun?.ids);
  const begunOnes = recent.filter(({ id, state }) => again.has(id) && state !== "rejected");
  return begunOnes.length > 0 ? begunOnes : untold(recent, new Set(ids));
}

function untold(recent: readonly StoredMention[], told: ReadonlySet<string>): StoredMention[] {
  return recent.filter(({ id, state }) => !told.has(id) && state !== "rejected");
}

/** What came while a telling failed is told next, however long ago it came. */
function toldNow(recent: readonly StoredMention[], ids: readonly string[], now: number): Omit<Told, "inboxes"> {
  const known = new Set(ids);
  const yesterday = new Date(now - OVERLAP).toISOString();
  const oldest = untold(recent, known).at(-1)?.received ?? yesterday;
  const since = oldest < yesterday ? oldest : yesterday;
  const later = recent.filter(({ id, received }) => known.has(id) && received >= since);
  return { at: now, since, ids: later.map(({ id }) => id), begun: null };
}

/** How many sealed messages are new, and which inboxes are about to be full since the last time. */
function inboxNews(inboxes: readonly InboxState[], told: Told["inboxes"]) {
  const now = inboxes.map(({ user, messages, fullness }) => {
    const { newest = "", isFull: wasFull = false } = told[user] ?? {};
    const isFull = fullness >= NEARLY_FULL;
    const last = messages.at(-1)?.created ?? "";
    return {
      sealed: messages.filter(({ created }) => created > newest).length,
      filling: isFull && !wasFull ? [user] : [],
      after: [user, { newest: last > newest ? last : newest, isFull }] as const,
    };
  });
  return {
    sealed: now.reduce((sum, { sealed }) => sum + sealed, 0),
    filling: now.flatMap(({ filling }) => filling),
    after: Object.fromEntries(now.map(({ after }) => after)),
  };
}

function idOf(ids: readonly string[]): string {
  return createHash("sha256").update(ids.toSorted().join("\n")).digest("hex").slice(0, 32);
}
