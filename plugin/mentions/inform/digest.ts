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
/** How long one run may take to send, and how long after a failure nothing is sent. */
const LEASE = 10 * 60_000;
const HOUR = 3600_000;
/** News that comes after such a silence is told at once. */
const QUIET = HOUR;
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
  /** Milliseconds from one telling to the digest of what followed; at least {@link QUIET}. */
  pause: number;
  send(news: News): Promise<void>;
}

/**
 * Tells the author what is new. The first news after a quiet hour, in which nothing came and nothing was told, is told at
 * once. What follows waits for a digest: by mail at most one in `digestHours`, by webhook one an hour. To be called after
 * each new mention and message, and every hour.
 *
 * Everything is told at least once. What fails, or was cut short by the end of the process, is told again as it was by a
 * later call; only where it had arrived in spite of that does the author see it twice, and a mail has the same Message-ID
 * then. Of two calls at once, in one process or two, one alone tells.
 *
 * @throws TwtxtError `store-failed`; a mail or webhook that fails is logged
 * @see PROTOCOL 2.5
 */
export async function informAuthor(parts: InformParts): Promise<void> {
  const { mail, webhook, page, digestHours } = parts;
  const tellings: Promise<void>[] = [];
  if (mail) {
    const send = (news: News) => mail(digestMail(news, page));
    tellings.push(tell({ name: "mail", key: "inform/digest", pause: digestHours * HOUR, send }, parts));
  }
  if (webhook) {
    const send = (news: News) => webhook(digestNote(news, page));
    tellings.push(tell({ name: "webhook", key: "inform/webhook", pause: HOUR, send }, parts));
  }
  await Promise.all(tellings);
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
  if (!mayTell(told, now())) return;

  const recent = (await list({ limit: NEWS_LIMIT })).mentions.filter(({ received }) => received >= told.since);
  const mentions = newsOf(recent, told);
  const { fresh, earlier, filling, after: inboxesTold } = inboxNews(await inboxes(), told.inboxes);
  const sealed = fresh.length;
  if (mentions.length === 0 && sealed === 0 && filling.length === 0) {
    // Where there is room again, the next time that it gets scarce is news.
    const isEmptied = JSON.stringify(inboxesTold) !== JSON.stringify(told.inboxes);
    if (stored && isEmptied) await writeJson(store, channel.key, { ...told, inboxes: inboxesTold }, stored);
    return;
  }
  const news = [...receivedTimes(mentions), ...fresh];
  if (!isDigestDue(told, channel, now()) && !hasFirstAfterQuiet(news, [...receivedTimes(recent), ...earlier])) return;

  const ids = mentions.map(({ id }) => id);
  // After a failure it stays as it is, and the next call after the lease tells the same again.
  const begun = { ...told, begun: { ids, until: now() + LEASE } };
  const etag = await writeJson(store, channel.key, begun, stored ? { etag: stored.etag } : { isNew: true });
  if (etag === null) return;

  const id = idOf([...ids, JSON.stringify(inboxesTold)]);
  try {
    await channel.send({ id, mentions, sealed, filling });
  } catch (error) {
    log(`You could not be notified by ${channel.name}; the next run tries again. ${(error as Error).message}`);
    return;
  }
  const after = { ...toldNow(recent, [...told.ids, ...ids], now()), inboxes: inboxesTold };
  await writeJson(store, channel.key, after, { etag });
}

/** Whether no other run is telling, and nothing was told in the last hour. */
function mayTell({ at, begun }: Told, now: number): boolean {
  return (begun === null || now >= begun.until) && (at === null || now >= at + QUIET);
}

function isDigestDue({ at }: Told, { pause }: Channel, now: number): boolean {
  return at === null || now >= at + pause;
}

function receivedTimes(mentions: readonly StoredMention[]): string[] {
  return mentions.map(({ received }) => received);
}

/** Whether one of the news came after an hour without any. */
function hasFirstAfterQuiet(news: readonly string[], earlier: readonly string[]): boolean {
  const times = [...news, ...earlier].map((time) => Date.parse(time)).sort((a, b) => a - b);
  const firsts = new Set(times.filter((time, i) => time - (times[i - 1] ?? Number.NEGATIVE_INFINITY) > QUIET));
  return news.some((time) => firsts.has(Date.parse(time)));
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

/** Which sealed messages are new, by their times, and which inboxes are about to be full since the last time. */
function inboxNews(inboxes: readonly InboxState[], told: Told["inboxes"]) {
  const now = inboxes.map(({ user, messages, fullness }) => {
    const { newest = "", isFull: wasFull = false } = told[user] ?? {};
    const isFull = fullness >= NEARLY_FULL;
    const times = messages.map(({ created }) => created);
    const last = times.at(-1) ?? "";
    return {
      fresh: times.filter((time) => time > newest),
      // The newest that was told, although it may be deleted by now.
      earlier: [...times, newest].filter((time) => time !== "" && time <= newest),
      filling: isFull && !wasFull ? [user] : [],
      after: [user, { newest: last > newest ? last : newest, isFull }] as const,
    };
  });
  return {
    fresh: now.flatMap(({ fresh }) => fresh),
    earlier: now.flatMap(({ earlier }) => earlier),
    filling: now.flatMap(({ filling }) => filling),
    after: Object.fromEntries(now.map(({ after }) => after)),
  };
}

function idOf(ids: readonly string[]): string {
  return createHash("sha256").update(ids.toSorted().join("\n")).digest("hex").slice(0, 32);
}
