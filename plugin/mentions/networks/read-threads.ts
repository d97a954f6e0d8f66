// plugin/mentions/networks/read-threads.ts: reads the threads of copies when they are due, and stores what is answered. PROTOCOL 2.7
import { DAY, HOUR, MINUTE } from "../../clock.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import type { Log } from "../../http/respond.js";
import { comparableUrl, normalUrl } from "../../http/same-url.js";
import { TimeSlices } from "../../http/time-slices.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { hostQueue } from "../host-queue.js";
import type { StoredMention } from "../mention.js";
import type { NewMention } from "../receive/event.js";
import type { Moderation } from "../receive/moderation.js";
import type { ReceivedMentions } from "../receive/received.js";
import { sanitizeHtml } from "../verify/page-content.js";
import { quoteName, TEXT_LIMIT } from "../verify/source-text.js";
import { readBlueskyThread } from "./bluesky.js";
import { readMastodonThread } from "./mastodon.js";
import type { Answer, Copy, NetworkName, ReadThread, Thread, ThreadParts } from "./network.js";
import { NetworkError, readPause } from "./network-json.js";
import { type Reading, THREAD_READINGS, ThreadReadings } from "./network-records.js";

/** Runs are not always on time. */
const TOLERANCE = 5 * MINUTE;
/** The pauses between readings, by the age of the copy at the last one. */
const PAUSES = [
  { until: 30 * MINUTE, pause: 15 * MINUTE },
  { until: HOUR, pause: 30 * MINUTE },
  { until: 2 * DAY, pause: HOUR },
  { until: 30 * DAY, pause: DAY },
  { until: 365 * DAY, pause: 7 * DAY },
];
/** The first pause after a failure of a server, which doubles up to a day. */
const FAILURE_PAUSE = HOUR;
const THREADS_AT_ONCE = 8;
/** The newest replies of a copy that are stored. */
const MAX_REPLIES = 500;
/** Ten times what is shown. Anyone can write a longer reply. */
const HTML_LIMIT = 50_000;
/** Of a like or repost. */
const NO_TEXT = { text: "", html: null };
/** For all replies of a thread. */
const READING_MS = 10_000;

const THREADS: Record<NetworkName, ReadThread> = { mastodon: readMastodonThread, bluesky: readBlueskyThread };

export interface PostCopy {
  page: string;
  url: string;
  /** `null` for one that is not read, such as one on another network. */
  copy: Copy | null;
}

export interface ReaderParts extends Omit<ThreadParts, "token"> {
  /** By the URL of the copy and its page, separated by a space. */
  copies: ReadonlyMap<string, PostCopy>;
  /** The author's token for a server; `undefined` for none. */
  findToken(server: string): string | undefined;
  store: Store;
  received: ReceivedMentions;
  moderation: Moderation;
  /** Called when a mention was stored that is new or has changed. */
  onStored(): void;
  log: Log;
}

interface Due extends Pick<PostCopy, "page"> {
  copy: Copy;
  key: string;
  /** When it is due. */
  at: number;
}

/** When a thread is read next; `null` for never again. */
export function nextReading({ published, read }: Pick<Reading, "published" | "read">): number | null {
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
  const stored = await readJson(parts.store, THREAD_READINGS, ThreadReadings, (error) =>
    parts.log(error.message, { level: "warn" }),
  );
  return new ThreadReader(parts, stored?.value ?? { threads: {}, servers: {} }, isOver).run(which);
}

class ThreadReader {
  /** The pages of posts by the comparable URLs of their copies. */
  readonly #posts: ReadonlyMap<string | null, string>;
  #count = 0;

  constructor(
    readonly parts: ReaderParts,
    readonly state: ThreadReadings,
    readonly isOver: () => boolean,
  ) {
    this.#posts = new Map(Array.from(parts.copies.values(), ({ url, page }) => [comparableUrl(url), page]));
  }

  async run(which: "due" | "recent"): Promise<number> {
    const due = this.#listDue(which);
    if (due.length === 0) return 0;
    await this.parts.moderation.blockList?.refresh();
    const queue = hostQueue(THREADS_AT_ONCE);
    const readings = due.map((one, i) => queue(one.copy.server, () => this.#read(one), -i));
    await Promise.all(readings).finally(() => this.#save());
    return this.#count;
  }

  /** Forgets the threads of copies that no post names any more. */
  async #save(): Promise<void> {
    const { copies, store } = this.parts;
    const threads = Object.fromEntries(Object.entries(this.state.threads).filter(([key]) => copies.has(key)));
    await writeJson(store, THREAD_READINGS, { ...this.state, threads });
  }

  /** Those that have waited longest come first. */
  #listDue(which: "due" | "recent"): Due[] {
    const now = this.parts.now();
    const { threads } = this.state;
    return [...this.parts.copies]
      .flatMap(([key, { page, copy }]): Due[] => {
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
    const { now, findToken, isUnlistedWanted, log } = this.parts;
    if (this.isOver() || this.#readPause(copy.server) !== null) return;
    const before = this.state.threads[key];
    try {
      const ask = this.#limitedAsk(copy);
      const parts = { ask, now, isUnlistedWanted, token: findToken(copy.server) };
      const thread = await THREADS[copy.network](copy, parts);
      const missing = thread ? await this.#store(thread, due, before?.missing ?? {}) : {};
      const published = Math.min(Date.parse(thread?.published ?? "") || before?.published || now(), now());
      const trouble = thread ? {} : { trouble: "The copy is gone, or is not public." };
      this.state.threads[key] = { published, read: now(), missing, ...trouble };
      if (this.#readPause(copy.server) === null) delete this.state.servers[copy.server];
      this.#count += 1;
    } catch (error) {
      ifTwtxtError((failure) => this.#noteFailure(due, failure))(error);
    }
    const { trouble } = this.state.threads[key] ?? {};
    if (trouble && trouble !== before?.trouble) log(`Answers to ${page} at ${copy.url} are not read. ${trouble}`);
  }

  /** @throws what is thrown where mentions are stored */
  #noteFailure({ copy, key }: Due, failure: TwtxtError): void {
    if (failure.code === "store-failed") throw failure;
    if (failure === RUN_IS_OVER) return;
    const now = this.parts.now();
    const before = { published: now, read: 0, ...this.state.threads[key] };
    const isFinal = failure.code !== "unreachable";
    this.state.threads[key] = { ...before, ...(isFinal && { read: now }), trouble: failure.message };
    if (isFinal) return;
    // Still due, when the server may be asked again: as it says, or after a pause.
    if (this.#readPause(copy.server) !== null) return;
    const { failures = 0 } = this.state.servers[copy.server] ?? {};
    const pause = Math.min(FAILURE_PAUSE * 2 ** failures, DAY) - TOLERANCE;
    this.state.servers[copy.server] = { notBefore: now + pause, failures: failures + 1 };
  }

  /** When a server may be asked again; `null` for now. */
  #readPause(server: string): number | null {
    const { notBefore = 0 } = this.state.servers[server] ?? {};
    const now = this.parts.now();
    return notBefore > now && notBefore <= now + DAY ? notBefore : null;
  }

  /** The guard, until the run is over or the limit of the server is used up. */
  #limitedAsk({ server }: Copy): Ask {
    return async (url, request) => {
      if (this.isOver()) throw RUN_IS_OVER;
      const until = this.#readPause(server);
      if (until !== null) throw new NetworkError("unreachable", `The limit of ${server} is used up.`, 429, until);
      const answer = await this.parts.ask(url, request);
      const now = this.parts.now();
      const pause = readPause(answer, now);
      if (pause !== null) this.state.servers[server] = { notBefore: Math.min(pause, now + DAY), failures: 0 };
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
    const { copies, received, now, onStored, log } = this.parts;
    const newest = thread.replies.toSorted((a, b) => (b.published ?? "").localeCompare(a.published ?? ""));
    const [replies, others] = [newest.slice(0, MAX_REPLIES).reverse(), newest.slice(MAX_REPLIES)];
    const found = await this.#toMentions([...replies, ...thread.reactions], { copy, page });
    const view = await received.journal.read();
    const ofOthers = new Set(Array.from(copies.values(), (other) => other.copy?.url).filter((url) => url !== copy.url));
    // Such as what Bridgy sent, and what is in the thread of another copy, which this server must not replace.
    const isOfOther = (known: StoredMention) =>
      known.target === page && (known.copy === undefined || ofOthers.has(known.copy));
    const wanted = found.filter(({ identity }) => !view.findNamed(identity).some(isOfOther));
    const present = new Set([...wanted.map(({ identity }) => identity), ...others.map(({ url }) => normalUrl(url))]);
    const isMissing = ({ copy: ofCopy, state, type, identity }: StoredMention) =>
      ofCopy === copy.url &&
      state !== "removed" &&
      !present.has(identity) &&
      thread.hasAll[type === "like" || type === "repost" ? type : "reply"];
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

  /**
   * The mentions of a thread, each after the one that it replies to, without blocked accounts and the site's own posts. An
   * account has one reaction of a type to a post, whatever the number of copies.
   *
   * @throws TwtxtError `unreachable` if it takes too long to read the replies
   */
  async #toMentions(answers: readonly Answer[], { copy, page }: Pick<Due, "copy" | "page">): Promise<NewMention[]> {
    const { moderation } = this.parts;
    const findOwnPost = (url: string) => this.#posts.get(comparableUrl(url));
    const slices = new TimeSlices(AbortSignal.timeout(READING_MS));
    const mentions: NewMention[] = [];
    // One after the other, because each yields to other requests only after a piece of its own.
    for (const { type, url, author, html, published, replyTo } of answers) {
      if (findOwnPost(url) !== undefined || [url, author.url].some((each) => moderation.isBlocked(each))) continue;
      const identity = (type === "reply" && normalUrl(url)) || url;
      mentions.push({
        ...((html && (await sanitizeHtml(html.slice(0, HTML_LIMIT), url, TEXT_LIMIT, slices))) || NO_TEXT),
        ...{ type, identity, published, given: identity, isDeclared: true },
        ...{ copy: copy.url, target: page, about: page, under: null },
        ...{ timestamp: null, instant: null, hash: null, hashV1: null },
        author: { ...author, name: quoteName(author.name) || new URL(author.url).host },
        subject: replyTo === null ? page : (findOwnPost(replyTo) ?? replyTo),
        hold: moderation.chooseHold(author.url),
      });
    }
    return mentions;
  }
}

/** The thread stays due. */
const RUN_IS_OVER = new TwtxtError("unreachable", "The run is over.");
