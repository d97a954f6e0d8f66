// plugin/mentions/networks/read-threads.ts: reads the threads of copies when they are due, and stores what is answered. PROTOCOL 2.7
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import type { Log } from "../../http/respond.js";
import { normalUrl } from "../../http/same-url.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { hostQueue } from "../host-queue.js";
import type { StoredMention } from "../mention.js";
import type { Moderation } from "../receive/moderation.js";
import type { ReceivedMentions } from "../receive/received.js";
import { parsePostUrl } from "./bluesky.js";
import { readBlueskyThread } from "./bluesky-thread.js";
import { parseStatusUrl } from "./mastodon.js";
import { readMastodonThread } from "./mastodon-thread.js";
import { type Copy, MAX_REPLIES, type Network, NetworkError, type NetworkName, type Thread } from "./network.js";
import { readPause } from "./network-json.js";
import { ownPostFinder, toMentions } from "./thread-mentions.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Runs are not always on time. */
const TOLERANCE = 5 * MINUTE;
/** The first readings after a copy was posted. */
const FIRST = [15 * MINUTE, 30 * MINUTE, HOUR];
/** The pauses between later readings, by the age of the copy. */
const PAUSES = [
  { until: 2 * DAY, pause: HOUR },
  { until: 30 * DAY, pause: DAY },
  { until: 365 * DAY, pause: 7 * DAY },
];
/** The first pause after a failure of a server, which doubles up to a day. */
const FAILURE_PAUSE = HOUR;
const THREADS_AT_ONCE = 8;

const KEY = "networks/threads";

/** Times are in milliseconds since 1970. */
const Reading = v.object({
  /** When the copy was posted. */
  published: v.number(),
  /** When its thread was last read; 0 for never. */
  read: v.number(),
  /** Since when stored mentions are missing in the thread, by ID. */
  missing: v.exactOptional(v.record(v.string(), v.number())),
  /** Why the last reading failed; absent otherwise. */
  trouble: v.exactOptional(v.string()),
});
type Reading = v.InferOutput<typeof Reading>;

const Pause = v.object({ notBefore: v.number(), failures: v.number() });
const State = v.object({ threads: v.record(v.string(), Reading), servers: v.record(v.string(), Pause) });
type State = v.InferOutput<typeof State>;

const THREADS: Record<NetworkName, Network["thread"]> = { mastodon: readMastodonThread, bluesky: readBlueskyThread };

/** A post and the URL of one of its copies. */
export interface PostCopy {
  page: string;
  url: string;
}

interface ReaderParts {
  copies: readonly PostCopy[];
  isUnlistedWanted: boolean;
  /** The author's token for a server; `undefined` for none. */
  findToken(server: string): string | undefined;
  ask: Ask;
  now: Clock;
  store: Store;
  received: ReceivedMentions;
  moderation: Moderation;
  /** Called when a mention was stored that is new or has changed. */
  onStored(): void;
  log: Log;
}

interface Due {
  copy: Copy;
  page: string;
  key: string;
  /** When it is due. */
  at: number;
}

/** @returns `null` for a URL that is not read, such as one of another network */
export function parseCopy(url: string): Copy | null {
  return parsePostUrl(url) ?? parseStatusUrl(url);
}

/** When a thread is read next; `null` for never again. */
export function nextReading({ published, read }: Pick<Reading, "published" | "read">): number | null {
  const first = FIRST.map((age) => published + age).find((time) => time > read);
  if (first !== undefined) return first;
  const pause = PAUSES.find(({ until }) => read - published < until)?.pause;
  return pause === undefined ? null : read + pause;
}

/**
 * Reads threads, all servers side by side, and one after the other from a server.
 *
 * @param which - `due`, or `recent` for all copies of the last 30 days
 * @param isOver - nothing new is started once it returns true. What is left comes first in the next run
 * @returns how many were read
 */
export async function readThreads(parts: ReaderParts, which: "due" | "recent", isOver: () => boolean): Promise<number> {
  const stored = await readJson(parts.store, KEY, State, (error) => parts.log(error.message, { level: "warn" }));
  const reader = new ThreadReader(parts, stored?.value ?? { threads: {}, servers: {} }, isOver);
  return reader.run(which);
}

class ThreadReader {
  readonly #parts: ReaderParts;
  readonly #state: State;
  readonly #isOver: () => boolean;
  readonly #findOwnPost: ReturnType<typeof ownPostFinder>;
  #count = 0;

  constructor(parts: ReaderParts, state: State, isOver: () => boolean) {
    this.#parts = parts;
    this.#state = state;
    this.#isOver = isOver;
    this.#findOwnPost = ownPostFinder(parts.copies);
  }

  async run(which: "due" | "recent"): Promise<number> {
    const due = this.#listDue(which);
    if (due.length === 0) return 0;
    await this.#parts.moderation.blockList?.refresh();
    const queue = hostQueue(THREADS_AT_ONCE);
    const read = ({ copy }: Due, i: number) => queue(copy.server, () => this.#read(due[i] as Due), -i);
    await Promise.all(due.map(read)).finally(() => this.#save());
    return this.#count;
  }

  /** Forgets the threads of copies that no post names any more. */
  async #save(): Promise<void> {
    const keys = new Set(this.#parts.copies.map(toKey));
    const threads = Object.fromEntries(Object.entries(this.#state.threads).filter(([key]) => keys.has(key)));
    await writeJson(this.#parts.store, KEY, { ...this.#state, threads });
  }

  /** Those that have waited longest come first. */
  #listDue(which: "due" | "recent"): Due[] {
    const now = this.#parts.now();
    const { threads } = this.#state;
    return this.#parts.copies
      .flatMap(({ page, url }): Due[] => {
        const copy = parseCopy(url);
        const key = toKey({ page, url });
        const reading = threads[key];
        const isUnread = reading === undefined || reading.read === 0 || reading.read > now;
        const next = isUnread ? 0 : nextReading(reading);
        const isRecent = reading !== undefined && now - reading.published < 30 * DAY;
        const isDue = next !== null && next - TOLERANCE <= now;
        return copy && (isDue || (which === "recent" && isRecent)) ? [{ copy, page, key, at: next ?? now }] : [];
      })
      .sort((a, b) => a.at - b.at);
  }

  async #read(due: Due): Promise<void> {
    const { copy, page, key } = due;
    const { now, findToken, isUnlistedWanted, log } = this.#parts;
    if (this.#isOver() || this.#isPaused(copy.server)) return;
    const before = this.#state.threads[key];
    try {
      const ask = this.#limitedAsk(copy);
      const parts = { ask, now, isUnlistedWanted, token: findToken(copy.server) };
      const thread = await THREADS[copy.network](copy, parts);
      const missing = thread ? await this.#store(thread, due, before?.missing ?? {}) : {};
      const published = Math.min(Date.parse(thread?.published ?? "") || before?.published || now(), now());
      const trouble = thread ? {} : { trouble: "The copy is gone, or is not public." };
      this.#note(key, { published, ...(Object.keys(missing).length > 0 && { missing }), ...trouble });
      if (!this.#isPaused(copy.server)) delete this.#state.servers[copy.server];
      this.#count += 1;
    } catch (error) {
      ifTwtxtError((failure) => this.#noteFailure(due, failure))(error);
    }
    const { trouble } = this.#state.threads[key] ?? {};
    if (trouble && trouble !== before?.trouble) log(`Answers to ${page} at ${copy.url} are not read. ${trouble}`);
  }

  /** @throws what is thrown where mentions are stored */
  #noteFailure({ copy, key }: Due, failure: TwtxtError): void {
    if (failure.code === "store-failed") throw failure;
    if (failure === RUN_IS_OVER) return;
    const now = this.#parts.now();
    const trouble = failure.message;
    const before = this.#state.threads[key];
    if (failure.code !== "unreachable") {
      this.#note(key, { published: before?.published ?? now, trouble });
      return;
    }
    // Still due, when the server may be asked again.
    const { failures = 0 } = this.#state.servers[copy.server] ?? {};
    const pause = Math.min(FAILURE_PAUSE * 2 ** failures, DAY) - TOLERANCE;
    const notBefore = failure instanceof NetworkError ? failure.notBefore : null;
    this.#state.servers[copy.server] = {
      notBefore: Math.min(notBefore ?? now + pause, now + DAY),
      failures: notBefore === null ? failures + 1 : failures,
    };
    this.#state.threads[key] = { ...(before ?? { published: now, read: 0 }), trouble };
  }

  #note(key: string, reading: Omit<Reading, "read">): void {
    this.#state.threads[key] = { ...reading, read: this.#parts.now() };
  }

  #isPaused(server: string): boolean {
    const { notBefore = 0 } = this.#state.servers[server] ?? {};
    const now = this.#parts.now();
    return notBefore > now && notBefore <= now + DAY;
  }

  /** The guard, until the run is over or the limit of the server is used up. */
  #limitedAsk({ server }: Copy): Ask {
    return async (url, request) => {
      if (this.#isOver()) throw RUN_IS_OVER;
      const { notBefore = null } = this.#isPaused(server) ? (this.#state.servers[server] ?? {}) : {};
      if (notBefore !== null)
        throw new NetworkError("unreachable", `The limit of ${server} is used up.`, 429, notBefore);
      const answer = await this.#parts.ask(url, request);
      const pause = readPause(answer, this.#parts.now());
      if (pause !== null) this.#state.servers[server] = { notBefore: pause, failures: 0 };
      return answer;
    };
  }

  /**
   * Stores the mentions of a thread, and removes those that are missing in a second reading.
   *
   * @param before - what was missing in the last one
   * @returns what is missing now
   */
  async #store(thread: Thread, { copy, page }: Due, before: Readonly<Record<string, number>>) {
    const { received, moderation, now, onStored, log } = this.#parts;
    const newest = thread.replies.toSorted((a, b) => compare(b.published ?? "", a.published ?? ""));
    const [replies, others] = [newest.slice(0, MAX_REPLIES).reverse(), newest.slice(MAX_REPLIES)];
    const found = await toMentions({ ...thread, replies }, { page, copy, moderation, findOwnPost: this.#findOwnPost });
    const view = await received.journal.read();
    // Such as what Bridgy sent.
    const isOfOther = (known: StoredMention) => known.copy === undefined && known.target === page;
    const wanted = found.filter(({ identity }) => !view.findNamed(identity).some(isOfOther));
    const present = new Set([...wanted.map(({ identity }) => identity), ...others.map(({ url }) => normalUrl(url))]);
    const isMissing = ({ copy: ofCopy, state, type, identity }: StoredMention) =>
      ofCopy === copy.url && state !== "removed" && !present.has(identity) && hasAllOf(thread, type);
    const known = Array.from(view.newestFirst(page), (entry) => view.read(entry));
    const since = known.filter(isMissing).map(({ id }) => [id, before[id] ?? now()] as const);
    const gone = since.filter(([, time]) => now() - time >= HOUR - TOLERANCE).map(([id]) => id);
    const changed = await received.journal.selectChanged(wanted);
    await received.keepAll(changed);
    for (const id of gone) await received.remove(id);
    if (changed.length > 0) onStored();
    if (changed.length + gone.length > 0) {
      log(`Answers to ${page} at ${copy.url}: ${changed.length} new or changed, ${gone.length} removed.`);
    }
    return Object.fromEntries(since.filter(([id]) => !gone.includes(id)));
  }
}

function hasAllOf({ hasAll }: Thread, type: StoredMention["type"]): boolean {
  return type === "like" || type === "repost" ? hasAll[type] : hasAll.replies;
}

function toKey({ page, url }: PostCopy): string {
  return `${url} ${page}`;
}

/** The thread stays due. */
const RUN_IS_OVER = new TwtxtError("unreachable", "The run is over.");

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
