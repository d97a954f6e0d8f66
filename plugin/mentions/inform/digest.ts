// plugin/mentions/inform/digest.ts: notifies the author of new mentions and messages, through each channel.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { ListMentions, StoredMention } from "../mention.js";
import type { News } from "./digest-text.js";
import { InboxesTold, type InboxState, inboxNews } from "./inbox-news.js";

/** More than anybody gets in an interval; what is older is told no more. */
const NEWS_LIMIT = 10_000;
/** How long one run may take to send, and how long after a failure nothing is sent. */
const LEASE = 10 * 60_000;
const HOUR = 3600_000;
/** News that comes after such a silence is told at once. */
const QUIET = HOUR;
/** A mention may show up in the list a while after the time that it carries. */
const OVERLAP = 24 * HOUR;

/** What an author has been told through one channel. Times are milliseconds since 1970, but for `since`. */
const Told = v.object({
  at: v.nullable(v.number()),
  /** What came earlier was told: `YYYY-MM-DDThh:mm:ss.sssZ`. */
  since: v.string(),
  /** What came later and was told all the same. */
  ids: v.array(v.string()),
  /** What some run has set out to tell, and from when on another one may take that up. */
  begun: v.nullable(v.object({ ids: v.array(v.string()), until: v.number() })),
  inboxes: v.optional(InboxesTold, {}),
});

type Told = v.InferOutput<typeof Told>;

const NOTHING_YET: Told = { at: null, since: "", ids: [], begun: null, inboxes: {} };

/** A way to notify the author. */
export interface Channel {
  /** For messages, such as `mail`. */
  name: string;
  /** Where the store notes what the author was told. */
  key: string;
  /** Milliseconds from one notification to the digest of what followed; at least {@link QUIET}. */
  pauseMs: number;
  /** @throws TwtxtError `mail-failed` or `hook-failed`, with what to do and without a secret */
  send(news: News): Promise<void>;
}

/**
 * Tells the author what is new. The first news after a quiet hour, in which nothing came and nothing was told, is told at
 * once. Later news waits for a digest, which each channel sends after its pause. To be called after each new mention and
 * message, and every hour.
 *
 * Everything is told at least once. A telling that fails, or is cut short by the end of the process, is repeated as it was
 * by a later call; the author sees it twice only if it had arrived in spite of that, and a mail has the same Message-ID
 * then. If two calls run at once, in one process or two, only one of them tells.
 *
 * @throws TwtxtError `store-failed`; a channel that fails is logged
 * @see PROTOCOL 2.5
 */
export async function informAuthor(parts: InformParts): Promise<void> {
  await Promise.all(parts.channels.map((channel) => tell(channel, parts)));
}

export interface InformParts {
  list: ListMentions;
  /** What lies in the inboxes of the site, message by message, oldest first; none for a site without. */
  inboxes(): Promise<InboxState[]>;
  store: Store;
  now: Clock;
  channels: readonly Channel[];
  log: Log;
}

async function tell(channel: Channel, parts: InformParts): Promise<void> {
  const { store, now, log } = parts;
  const stored = await readJson(store, channel.key, Told);
  const told = stored?.value ?? NOTHING_YET;
  if (!mayTell(told, now())) return;

  const found = await findNews(told, parts);
  if (found.isNothing) {
    // Where there is room again, the next time that it gets scarce is news.
    const isEmptied = JSON.stringify(found.inboxes) !== JSON.stringify(told.inboxes);
    if (stored && isEmptied) await writeJson(store, channel.key, { ...told, inboxes: found.inboxes }, stored);
    return;
  }
  if (!found.isFirstAfterQuiet && !isDigestDue(told, channel, now())) return;

  const ids = found.news.mentions.map(({ id }) => id);
  // After a failure it stays as it is, and the next call after the lease tells the same again.
  const begun = { ...told, begun: { ids, until: now() + LEASE } };
  const etag = await writeJson(store, channel.key, begun, stored ? { etag: stored.etag } : { isNew: true });
  if (etag === null) return;
  try {
    await channel.send(found.news);
  } catch (error) {
    log(`You could not be notified by ${channel.name}; the next run tries again. ${(error as Error).message}`);
    return;
  }
  const after = { ...toldNow(found.recent, [...told.ids, ...ids], now()), inboxes: found.inboxes };
  await writeJson(store, channel.key, after, { etag });
}

/** News that was not told yet, what was looked at for it, and the state of the inboxes once it is told. */
async function findNews(told: Told, { list, inboxes }: InformParts) {
  const recent = (await list({ limit: NEWS_LIMIT })).mentions.filter(({ received }) => received >= told.since);
  const mentions = newsOf(recent, told);
  const { fresh, earlier, filling, after } = inboxNews(await inboxes(), told.inboxes);
  const id = idOf([...mentions.map(({ id }) => id), JSON.stringify(after)]);
  return {
    news: { id, mentions, sealed: fresh.length, filling },
    isNothing: mentions.length === 0 && fresh.length === 0 && filling.length === 0,
    isFirstAfterQuiet: hasFirstAfterQuiet(
      [...receivedTimes(mentions), ...fresh],
      [...receivedTimes(recent), ...earlier],
    ),
    recent,
    inboxes: after,
  };
}

/** Whether no other run is telling, and nothing was told in the last hour. */
function mayTell({ at, begun }: Told, now: number): boolean {
  return (begun === null || now >= begun.until) && (at === null || now >= at + QUIET);
}

function isDigestDue({ at }: Told, { pauseMs }: Channel, now: number): boolean {
  return at === null || now >= at + pauseMs;
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

function idOf(ids: readonly string[]): string {
  return createHash("sha256").update(ids.toSorted().join("\n")).digest("hex").slice(0, 32);
}
