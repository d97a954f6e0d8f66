// plugin/mentions/inform/digest.ts: notifies the author of new mentions and messages, through each channel.
import { hash } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import { ifUnchanged, readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { ListMentions, StoredMention } from "../mention.js";
import type { Digest } from "./digest-text.js";

/** More mentions than an interval can bring; older ones are not reported. */
const MENTION_LIMIT = 10_000;
/** Time limit for sending, and the pause after a failure. */
const LEASE = 10 * 60_000;
const HOUR = 3600_000;
/** News after this much silence is sent immediately. */
const QUIET = HOUR;
/** A mention may appear in the list some time after its `received`. */
const OVERLAP = 24 * HOUR;

/** The author is notified once an inbox is this full. PROTOCOL 3.3 */
const NEARLY_FULL = 0.8;

/** By user: when the newest reported message arrived, and whether a nearly full inbox was reported. */
const ReportedInboxes = v.record(v.string(), v.object({ newest: v.string(), isFull: v.boolean() }));

/** The state of a channel. Times are milliseconds since 1970, except `since`. */
const ChannelState = v.object({
  at: v.nullable(v.number()),
  /** Everything before was reported: `YYYY-MM-DDThh:mm:ss.sssZ`. */
  since: v.string(),
  /** Reported mentions after `since`. */
  ids: v.array(v.string()),
  /** A notification in progress, and when another run may take it over. */
  begun: v.nullable(v.object({ ids: v.array(v.string()), until: v.number() })),
  inboxes: v.optional(ReportedInboxes, {}),
  /** By network: the reported refusal of the author's account. */
  refused: v.optional(v.record(v.string(), v.string()), {}),
});

type ChannelState = v.InferOutput<typeof ChannelState>;

const INITIAL_STATE: ChannelState = { at: null, since: "", ids: [], begun: null, inboxes: {}, refused: {} };

export interface InboxState {
  user: string;
  /** Oldest first; `created` is `YYYY-MM-DDThh:mm:ss.sssZ`. */
  messages: readonly { created: string }[];
  /** From 0 to 1. */
  fullness: number;
}

export interface Channel {
  /** For messages, such as `mail`. */
  name: string;
  key: string;
  /** Hours from one notification to the digest of what followed; at least 1. */
  pauseHours: number;
  /** @throws TwtxtError `mail-failed` or `hook-failed`, with what to do and without a secret */
  send(news: Digest): Promise<void>;
}

/**
 * Notifies the author of what is new. The first news after a quiet hour is sent immediately. Later news waits for a digest,
 * which each channel sends after its pause. Call it after each new mention and message, and hourly.
 *
 * Delivery is at least once. A later call repeats a failed or interrupted notification unchanged, with the same Message-ID
 * for a mail. Of concurrent calls, in one process or several, only one sends.
 *
 * @throws TwtxtError `store-failed`; a channel that fails is logged
 * @see PROTOCOL 2.5
 */
export async function notifyAuthor(parts: NotificationParts): Promise<void> {
  await Promise.all(parts.channels.map((channel) => notify(channel, parts)));
}

interface NotificationParts {
  list: ListMentions;
  /** Empty for a site without inboxes. */
  inboxes(): Promise<InboxState[]>;
  /** Why networks refuse the author's accounts, by network; default: they do not. */
  refused?: (() => Promise<Record<string, string>>) | undefined;
  store: Store;
  now: Clock;
  channels: readonly Channel[];
  log: Log;
}

async function notify(channel: Channel, parts: NotificationParts): Promise<void> {
  const { store, now, log } = parts;
  const stored = await readJson(store, channel.key, ChannelState);
  const state = stored?.value ?? INITIAL_STATE;
  const quietTime = now() - (state.at ?? Number.NEGATIVE_INFINITY);
  const isSending = state.begun !== null && now() < state.begun.until;
  if (isSending || quietTime < QUIET) return;

  const found = await findDigest(state, parts);
  if (found.isNothing) {
    // Once an inbox has room again, the next time that it fills up is news.
    const { inboxes, refused } = found;
    const hasChanged = JSON.stringify([inboxes, refused]) !== JSON.stringify([state.inboxes, state.refused]);
    if (stored && hasChanged) await writeJson(store, channel.key, { ...state, inboxes, refused }, ifUnchanged(stored));
    return;
  }
  if (!found.isFirstAfterQuiet && quietTime < channel.pauseHours * HOUR) return;

  const ids = found.news.mentions.map(({ id }) => id);
  // After a failure this record stays, and the first call after the lease sends the same again.
  const begun = { ...state, begun: { ids, until: now() + LEASE } };
  const etag = await writeJson(store, channel.key, begun, ifUnchanged(stored));
  if (etag === null) return;
  try {
    await channel.send(found.news);
  } catch (error) {
    log(`Notification by ${channel.name} failed; the next run tries again. ${(error as Error).message}`, {
      level: "error",
    });
    return;
  }
  const after = {
    ...stateAfter(found.recent, [...state.ids, ...ids], now()),
    inboxes: found.inboxes,
    refused: found.refused,
  };
  await writeJson(store, channel.key, after, { etag });
}

/** Finds unreported news, and the state of the inboxes once it is reported. */
async function findDigest(state: ChannelState, { list, inboxes, refused: readRefused }: NotificationParts) {
  const { mentions: recent } = await list({ since: state.since, limit: MENTION_LIMIT });
  const mentions = mentionsToReport(recent, state);
  const { fresh, earlier, filling, after } = inboxNews(await inboxes(), state.inboxes);
  const refused = (await readRefused?.()) ?? {};
  const refusals = Object.entries(refused).filter(([network, why]) => state.refused[network] !== why);
  const names = [...mentions.map(({ id }) => id), JSON.stringify(after), ...refusals.flat()].sort();
  const id = hash("sha256", names.join("\n")).slice(0, 32);
  return {
    news: {
      id,
      mentions,
      sealed: fresh.length,
      filling,
      ...(refusals.length > 0 && { refusals: Object.fromEntries(refusals) }),
    },
    isNothing: mentions.length === 0 && fresh.length === 0 && filling.length === 0 && refusals.length === 0,
    isFirstAfterQuiet:
      refusals.length > 0 ||
      hasFirstAfterQuiet([...receivedTimes(mentions), ...fresh], [...receivedTimes(recent), ...earlier]),
    recent,
    inboxes: after,
    refused,
  };
}

interface InboxNews {
  /** Times of new messages. */
  fresh: string[];
  /** Times of the others, with that of the newest reported one, which may be deleted by now. */
  earlier: string[];
  /** Users whose inboxes became nearly full. */
  filling: string[];
  /** The state to store once this is reported. */
  after: ChannelState["inboxes"];
}

function inboxNews(inboxes: readonly InboxState[], reported: ChannelState["inboxes"]): InboxNews {
  const news: InboxNews = { fresh: [], earlier: [], filling: [], after: {} };
  for (const { user, messages, fullness } of inboxes) {
    const { newest = "", isFull: wasFull = false } = reported[user] ?? {};
    const isFull = fullness >= NEARLY_FULL;
    const times = [newest, ...messages.map(({ created }) => created)].filter((time) => time !== "");
    const last = times.at(-1) ?? "";
    news.fresh.push(...times.filter((time) => time > newest));
    news.earlier.push(...times.filter((time) => time <= newest));
    if (isFull && !wasFull) news.filling.push(user);
    news.after[user] = { newest: last > newest ? last : newest, isFull };
  }
  return news;
}

function receivedTimes(mentions: readonly StoredMention[]): string[] {
  return mentions.map(({ received }) => received);
}

/** Whether any of the news came after an hour without news. */
function hasFirstAfterQuiet(news: readonly string[], earlier: readonly string[]): boolean {
  const times = [...news, ...earlier].map((time) => Date.parse(time)).sort((a, b) => a - b);
  const firsts = new Set(times.filter((time, i) => time - (times[i - 1] ?? Number.NEGATIVE_INFINITY) > QUIET));
  return news.some((time) => firsts.has(Date.parse(time)));
}

/** A notification that was begun is repeated without newer mentions, so that it stays the same. */
function mentionsToReport(recent: readonly StoredMention[], { ids, begun }: ChannelState): StoredMention[] {
  const again = new Set(begun?.ids);
  const begunMentions = recent.filter(({ id, state }) => again.has(id) && state !== "rejected");
  return begunMentions.length > 0 ? begunMentions : unreported(recent, new Set(ids));
}

function unreported(recent: readonly StoredMention[], reported: ReadonlySet<string>): StoredMention[] {
  return recent.filter(({ id, state }) => !reported.has(id) && state !== "rejected");
}

/** Mentions that arrived while a notification failed are reported next, however old. */
function stateAfter(
  recent: readonly StoredMention[],
  ids: readonly string[],
  now: number,
): Omit<ChannelState, "inboxes" | "refused"> {
  const known = new Set(ids);
  const yesterday = new Date(now - OVERLAP).toISOString();
  const oldest = unreported(recent, known).at(-1)?.received ?? yesterday;
  const since = oldest < yesterday ? oldest : yesterday;
  const later = recent.filter(({ id, received }) => known.has(id) && received >= since);
  return { at: now, since, ids: later.map(({ id }) => id), begun: null };
}
