// plugin/mentions/inform/digest.ts: notifies the author of new mentions and messages, through each channel.
import { hash } from "node:crypto";
import * as v from "valibot";
import { type Clock, HOUR } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import { ifUnchanged, readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { ListMentions } from "../mention.js";
import type { Digest } from "./digest-text.js";

/** More mentions than an interval can bring; older ones are not reported. */
const MENTION_LIMIT = 10_000;
/** Time limit for sending, and the pause after a failure. */
const LEASE = 10 * 60_000;
/** News after this much silence is sent immediately. */
const QUIET = HOUR;
/** A mention may appear in the list some time after its `received`. */
const OVERLAP = 24 * HOUR;

/** The author is notified once an inbox is this full. PROTOCOL 3.3 */
const NEARLY_FULL = 0.8;

/** The state of a channel. Times are milliseconds since 1970, except those of news, `YYYY-MM-DDThh:mm:ss.sssZ`. */
const ChannelState = v.object({
  at: v.nullable(v.number()),
  /** Everything before was reported. */
  since: v.string(),
  /** The ids of the news that was reported after `since`, each with its time. */
  reported: v.record(v.string(), v.nullable(v.string())),
  /** A notification in progress, and when another run may take it over. */
  begun: v.nullable(v.object({ ids: v.array(v.string()), until: v.number() })),
});
type ChannelState = v.InferOutput<typeof ChannelState>;

const INITIAL_STATE: ChannelState = { at: null, since: "", reported: {}, begun: null };

export interface InboxState {
  user: string;
  /** `created` is `YYYY-MM-DDThh:mm:ss.sssZ`. */
  messages: readonly { created: string }[];
  /** From 0 to 1. */
  fullness: number;
}

export interface Channel {
  /** For messages, and in the key of its record, such as `mail`. */
  name: string;
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

/** A mention, a sealed message, an inbox that is nearly full, or a network that refuses the author's account. */
interface News {
  id: string;
  /** When it came; `null` for what lasts, and is news again once it was over. */
  time: string | null;
  part: Partial<Digest>;
}

async function notify(channel: Channel, parts: NotificationParts): Promise<void> {
  const { store, now, log } = parts;
  const key = `inform/${channel.name}`;
  const stored = await readJson(store, key, ChannelState);
  const state = stored?.value ?? INITIAL_STATE;
  const quietTime = now() - (state.at ?? Number.NEGATIVE_INFINITY);
  const isSending = state.begun !== null && now() < state.begun.until;
  if (isSending || quietTime < QUIET) return;

  const all = await listNews(state.since, parts);
  const ids = new Set(all.map(({ id }) => id));
  const reported = new Map(Object.entries(state.reported).filter(([id, time]) => time !== null || ids.has(id)));
  const news = selectNews(all, state);
  if (news.length === 0) {
    if (!stored || reported.size === Object.keys(state.reported).length) return;
    const left = { ...state, reported: Object.fromEntries(reported) };
    await writeJson(store, key, left, ifUnchanged(stored));
    return;
  }
  if (!isFirstAfterQuiet(news, reported) && quietTime < channel.pauseHours * HOUR) return;

  // After a failure this record stays, and the first call after the lease sends the same again.
  const begun = { ...state, begun: { ids: news.map(({ id }) => id), until: now() + LEASE } };
  const etag = await writeJson(store, key, begun, ifUnchanged(stored));
  if (etag === null) return;
  try {
    await channel.send(toDigest(news));
  } catch (error) {
    log(`Notification by ${channel.name} failed; the next run tries again. ${(error as Error).message}`, {
      level: "error",
    });
    return;
  }
  for (const { id, time } of news) reported.set(id, time);
  await writeJson(store, key, stateAfter(all, reported, now()), { etag });
}

/** Everything since a time, reported or not. */
async function listNews(since: string, { list, inboxes, refused }: NotificationParts): Promise<News[]> {
  const { mentions } = await list({ since, limit: MENTION_LIMIT });
  const shown = mentions.filter(({ state }) => state !== "rejected");
  const all = await inboxes();
  const messages = all.flatMap(({ user, messages }) => messages.map(({ created }) => ({ user, created })));
  const fresh = messages.filter(({ created }) => created >= since);
  const full = all.filter(({ fullness }) => fullness >= NEARLY_FULL);
  const refusals = Object.entries((await refused?.()) ?? {});
  return [
    ...shown.map((mention) => ({ id: mention.id, time: mention.received, part: { mentions: [mention] } })),
    ...fresh.map(({ user, created }) => ({ id: `message ${user} ${created}`, time: created, part: { sealed: 1 } })),
    ...full.map(({ user }) => ({ id: `full ${user}`, time: null, part: { filling: [user] } })),
    ...refusals.map(([network, why]) => {
      return { id: `refused ${network} ${why}`, time: null, part: { refusals: { [network]: why } } };
    }),
  ];
}

/** The news to report. A notification that was begun is repeated without newer ones, so that it stays the same. */
function selectNews(all: readonly News[], { reported, begun }: ChannelState): News[] {
  const again = new Set(begun?.ids);
  const repeated = all.filter(({ id }) => again.has(id));
  return repeated.length > 0 ? repeated : all.filter(({ id }) => !Object.hasOwn(reported, id));
}

function toDigest(news: readonly News[]): Digest {
  const ids = news.map(({ id }) => id).sort();
  const refusals = Object.assign({}, ...news.map(({ part }) => part.refusals));
  return {
    id: hash("sha256", ids.join("\n")).slice(0, 32),
    mentions: news.flatMap(({ part }) => part.mentions ?? []),
    sealed: news.filter(({ part }) => part.sealed).length,
    filling: news.flatMap(({ part }) => part.filling ?? []),
    refusals,
  };
}

/** Whether any of the news came after an hour without news, or is a refusal. */
function isFirstAfterQuiet(news: readonly News[], reported: ReadonlyMap<string, string | null>): boolean {
  const fresh = news.flatMap(({ time }) => (time === null ? [] : [Date.parse(time)]));
  const earlier = [...reported.values()].flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  const times = [...fresh, ...earlier].sort((a, b) => a - b);
  const firsts = new Set(times.filter((time, i) => time - (times[i - 1] ?? Number.NEGATIVE_INFINITY) > QUIET));
  return news.some(({ part }) => part.refusals) || fresh.some((time) => firsts.has(time));
}

/** News that came while a notification failed is reported next, however old. */
function stateAfter(all: readonly News[], reported: ReadonlyMap<string, string | null>, now: number): ChannelState {
  const yesterday = new Date(now - OVERLAP).toISOString();
  const left = all.flatMap(({ id, time }) => (time === null || reported.has(id) ? [] : [time]));
  const [since = yesterday] = [yesterday, ...left].sort();
  const later = [...reported].filter(([, time]) => time === null || time >= since);
  return { at: now, since, reported: Object.fromEntries(later), begun: null };
}
