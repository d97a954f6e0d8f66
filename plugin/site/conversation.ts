// plugin/site/conversation.ts: replies as a tree.
import { compareTexts, remember } from "../groups.js";

export interface Entry {
  /** Unique. */
  key: string;
  /** The names that a reply can have for it: both hashes of a twt, the URL of a page. */
  names: readonly string[];
  /** The names of what it replies to. The first known one counts. */
  parents: readonly string[];
  /** An instant, `YYYY-MM-DDThh:mm:ssZ`. */
  at: string;
}

export interface Thread<E> {
  entry: E;
  replies: Thread<E>[];
}

/** Maximum depth. Deeper replies are listed on the last level. */
const LEVELS = 4;

/** No entry. */
const NONE = -1;

/**
 * Arranges entries as threads, oldest first. Each entry appears once: under the entry that it replies to, or at the top if
 * that entry is unknown. If entries reply to each other in a circle, the oldest is at the top.
 *
 * The result does not depend on the order of the entries. If several have the same key or name, the oldest counts.
 */
export function toThreads<E extends Entry>(entries: Iterable<E>): Thread<E>[] {
  const sorted = sortedEntries(entries);
  const parents = withoutCircles(parentIndexes(sorted));
  const threads = sorted.map((entry): Thread<E> => ({ entry, replies: [] }));
  const roots: Thread<E>[] = [];
  const lists = listIndexes(parents);
  for (const [index, thread] of threads.entries()) (threads[lists[index] ?? NONE]?.replies ?? roots).push(thread);
  return roots;
}

export function newestThreads<E extends Entry>(entries: Iterable<E>): Thread<E>[] {
  return toThreads(entries)
    .map((thread) => ({ thread, at: newestTime(thread) }))
    .sort((a, b) => compareTexts(b.at, a.at) || compareTexts(a.thread.entry.key, b.thread.entry.key))
    .map(({ thread }) => thread);
}

function newestTime({ entry, replies }: Thread<Entry>): string {
  return replies.map(newestTime).reduce((newest, at) => (at > newest ? at : newest), entry.at);
}

/** The properties of a mention that say what it is and what it replies to. */
export interface MentionLike {
  source: string;
  target: string;
  under: string | null;
  type: string;
  hash: string | null;
  hashV1: string | null;
  replyTo: string | null;
  published: string | null;
  received: string | null;
  url?: string;
  /** Hashes and URLs of its earlier versions. */
  former?: readonly string[];
}

export interface TwtLike {
  timestamp: string;
  hashes: readonly string[];
  page: string | null;
  /** The hash of the twt that it replies to. */
  replyTo: string | null;
}

/** The place of a deleted post in its conversation: the replies to it still belong there. */
export function deletedTwt({ page, replyTo }: { page: string; replyTo: string | null }): TwtLike {
  return { timestamp: "", hashes: [], page, replyTo };
}

export function mentionKey({ source, target }: { source?: string | undefined; target?: string | undefined }): string {
  return `${source} ${target}`;
}

export function twtKey({ page, timestamp }: Pick<TwtLike, "page" | "timestamp">): string {
  return page ?? timestamp;
}

/** A mention in the list of a page. A reply that belongs to another conversation only mentions this page. */
export function asMention<M extends { type: string }>(mention: M): M {
  return mention.type === "reply" ? { ...mention, type: "mention" } : mention;
}

/** The entry of a mention: its names, and those of what it replies to. */
export function mentionEntry(mention: Omit<MentionLike, "type">): Entry {
  const { source, target, under, hash, hashV1, url = null, former = [], replyTo, published, received } = mention;
  const known = (names: readonly (string | null)[]) => [...new Set(names.filter((name) => name !== null))];
  return {
    key: mentionKey(mention),
    names: known([hash, hashV1, source, url, ...former]),
    parents: known([replyTo, under, target]),
    at: published ?? received ?? "",
  };
}

function twtEntry(twt: TwtLike): Entry {
  const key = twtKey(twt);
  return { key, names: [key, ...twt.hashes], parents: twt.replyTo === null ? [] : [twt.replyTo], at: twt.timestamp };
}

export class Conversations {
  readonly #replies = new Map<string, Entry[]>();

  constructor(mentions: Iterable<MentionLike>, twts: readonly TwtLike[]) {
    const replies = [...mentions].filter(({ type }) => type === "reply");
    const pages = [...new Set(replies.flatMap(({ target, under }) => [target, under ?? target]))].map(
      (url): Entry => ({ key: url, names: [url], parents: [], at: "" }),
    );
    // A post replaces the page of the same key.
    const places = new Map([...pages, ...twts.map(twtEntry)].map((entry) => [entry.key, entry]));
    const sorted = sortedEntries([...replies.map(mentionEntry), ...places.values()]);
    for (const [index, parent] of parentIndexes(sorted).entries()) {
      const [to, reply] = [sorted[parent], sorted[index]];
      if (to && reply) remember(this.#replies, to.key, () => []).push(reply);
    }
  }

  /** The mentions and twts of the conversation below a page, each once. @param key - of a page, twt or mention */
  below(key: string): Entry[] {
    const found = new Map<string, Entry>();
    const ahead = [key];
    for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
      for (const reply of this.#replies.get(next) ?? []) {
        if (reply.key === key || found.has(reply.key)) continue;
        found.set(reply.key, reply);
        ahead.push(reply.key);
      }
    }
    return [...found.values()];
  }
}

function sortedEntries<E extends Entry>(entries: Iterable<E>): E[] {
  const sorted = [...entries].sort((a, b) => compareTexts(a.at, b.at) || compareTexts(a.key, b.key));
  const keys = new Set<string>();
  return sorted.filter(({ key }) => !keys.has(key) && keys.add(key));
}

/** For each entry, the index of the entry that it replies to. */
function parentIndexes(entries: readonly Entry[]): number[] {
  const named = new Map<string, number>();
  for (const [index, { names }] of entries.entries()) {
    for (const name of names) if (!named.has(name)) named.set(name, index);
  }
  return entries.map(({ parents }, index) => {
    for (const name of parents) {
      const parent = named.get(name);
      if (parent !== undefined && parent !== index) return parent;
    }
    return NONE;
  });
}

/** Cuts each circle above its oldest entry. */
function withoutCircles(parents: readonly number[]): number[] {
  const cut = [...parents];
  const above = (index: number) => cut[index] ?? NONE;
  const walkOf = cut.map(() => NONE);
  for (const start of cut.keys()) {
    let at = start;
    for (; at !== NONE && walkOf[at] === NONE; at = above(at)) walkOf[at] = start;
    if (at === NONE || walkOf[at] !== start) continue;
    let oldest = at;
    for (let next = above(at); next !== at; next = above(next)) oldest = Math.min(oldest, next);
    cut[oldest] = NONE;
  }
  return cut;
}

/** For each entry, the index of the entry under which it is listed: the one that it replies to, or one on a higher level. */
function listIndexes(parents: readonly number[]): number[] {
  const levels: number[] = [];
  const lists: number[] = [];
  for (const start of parents.keys()) {
    const path: number[] = [];
    for (let at = start; at !== NONE && levels[at] === undefined; at = parents[at] ?? NONE) path.push(at);
    for (const index of path.toReversed()) {
      const parent = parents[index] ?? NONE;
      const level = levels[parent] ?? 0;
      lists[index] = level < LEVELS ? parent : (lists[parent] ?? NONE);
      levels[index] = Math.min(level + 1, LEVELS);
    }
  }
  return lists;
}
