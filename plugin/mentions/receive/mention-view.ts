// plugin/mentions/receive/mention-view.ts: the stored mentions in memory, with the lists in which they are found.
import { mentionEntry, type TwtLike, twtKey } from "../../site/conversation.js";
import type { StoredMention } from "../mention.js";
import { toSource } from "../reference.js";
import { duplicateKeys, isDuplicate, readHost, sourceKey } from "./duplicates.js";
import { type JsonText, JsonTexts, toJson } from "./json-texts.js";
import { type ListItem, SortedLists } from "./sorted-lists.js";

type FoundMention = Parameters<typeof isDuplicate>[1];

/** A stored mention in memory. It is replaced when the mention changes. */
export interface Entry extends ListItem {
  readonly state: StoredMention["state"];
  readonly isReply: boolean;
  /** The pages that have this reply in their conversations. */
  above: readonly string[];
  /** Whether something replies to it, or did. A list need not read the others that are not shown. */
  isAnswered: boolean;
  /** The number of the last plan of a snapshot that has placed it; 0 for none. */
  plan: number;
  json: JsonText;
}

/** A change of one mention: what it was before; `undefined` for a new one. */
export interface Change {
  id: string;
  before: Entry | undefined;
}

type ListKind = "page" | "name" | "guest" | "replies" | "state";

/** Of mentions that are in no conversation. */
const NO_PAGES: readonly string[] = [];
/** The list of all. */
const ALL = "";
/** The list of comments that wait for approval. */
const HELD_COMMENTS = "held comments";

/**
 * All mentions, each in the lists of its pages, its names, what it replies to, and what it may be a duplicate of. A change
 * costs the same however many there are.
 *
 * Changes are synchronous: read it without waiting in between.
 */
export class MentionView {
  readonly texts = new JsonTexts();
  readonly #entries = new Map<string, Entry>();
  readonly #lists = new SortedLists<Entry>();
  /** The site's own twts by name, and by what they reply to. */
  readonly #twts = new Map<string, TwtLike>();
  readonly #ownReplies = new Map<string, TwtLike[]>();
  #changes: Change[] | null = null;

  /** @param twts - the twts of the site, which mentions reply to */
  constructor(twts: readonly TwtLike[]) {
    for (const twt of twts) {
      for (const name of twtNames(twt)) this.#twts.set(name, twt);
      if (twt.replyTo !== null) this.#ownReplies.set(twt.replyTo, [...(this.#ownReplies.get(twt.replyTo) ?? []), twt]);
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): StoredMention | undefined {
    const entry = this.#entries.get(id);
    return entry && this.read(entry);
  }

  read({ json }: Entry): StoredMention {
    return JSON.parse(this.texts.read(json).toString());
  }

  #readAll(entries: Iterable<Entry>): StoredMention[] {
    return Array.from(entries, (entry) => this.read(entry));
  }

  entry(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  *values(): Generator<StoredMention> {
    for (const entry of this.#entries.values()) yield this.read(entry);
  }

  /** The mentions in a state, the newest first. @param after - as for {@link newestFirst} */
  newestInState(state: StoredMention["state"], after?: ListItem): Iterable<Entry> {
    return this.#lists.newestFirst(toList("state", state), after);
  }

  /** @param page - the mentions of this page and its conversation; default: all. @param after - those older than this one */
  newestFirst(page?: string, after?: ListItem): Iterable<Entry> {
    return this.#lists.newestFirst(page === undefined ? ALL : toList("page", page), after);
  }

  #find(kind: ListKind, name: string): readonly Entry[] {
    return this.#lists.get(toList(kind, name));
  }

  /** The mentions with a hash, or the replies with a URL. */
  findNamed(name: string): StoredMention[] {
    return this.#readAll(this.#find("name", name));
  }

  /** @returns other mentions with the same contents in the same place, or that the author rejected */
  findDuplicates(found: FoundMention, id: string): StoredMention[] {
    const entries = new Set(duplicateKeys(found).flatMap((key) => this.#lists.get(key)));
    const others = [...entries].filter((other) => other.id !== id && other.state !== "removed");
    return this.#readAll(others).filter((known) => isDuplicate(known, found));
  }

  /** The comments in the feed of a guest, oldest first. */
  findComments(feed: string): StoredMention[] {
    return this.#readAll(this.#find("guest", feed));
  }

  /** How many comments wait for approval. */
  get heldComments(): number {
    return this.#lists.get(HELD_COMMENTS).length;
  }

  /** @returns the shown reply with this hash in the conversation of a page; `own` for a twt of the site; `null` for none */
  findAnswerable(hash: string, page: string): StoredMention | "own" | null {
    if (this.#twts.has(hash)) {
      const above = this.#findPagesAbove({ id: "", subject: hash, under: null, target: page });
      return above.includes(page) ? "own" : null;
    }
    const entry = this.#findReply(hash);
    return entry?.state === "shown" && entry.above.includes(page) ? this.read(entry) : null;
  }

  /** The number of shown replies to a reply, with those of the site itself. */
  countAnswers(reply: StoredMention): number {
    const { shown, own } = this.#listAnswers(reply);
    return shown.size + own.size;
  }

  /** The shown replies to a reply, and those of the site itself. */
  findAnswers(reply: StoredMention): { shown: StoredMention[]; own: TwtLike[] } {
    const { shown, own } = this.#listAnswers(reply);
    return { shown: this.#readAll(shown), own: [...own] };
  }

  #listAnswers(reply: StoredMention): { shown: Set<Entry>; own: Set<TwtLike> } {
    const names = readNames(reply);
    const shown = names.flatMap((name) => this.#find("replies", name)).filter(({ state }) => state === "shown");
    return { shown: new Set(shown), own: new Set(names.flatMap((name) => this.#ownReplies.get(name) ?? [])) };
  }

  /** The mentions that may have one of these URLs as source. @param instant - `null` for a page */
  findFrom(urls: readonly string[], instant: string | null): StoredMention[] {
    return this.#readAll(new Set(urls.flatMap((url) => this.#lists.get(sourceKey(url, instant)))));
  }

  /** How many mentions of the host of a source, or of an account of another network, were shown on the day of a time. */
  countShown(mention: Parameters<typeof toDayList>[0], at: string): number {
    return this.#lists.get(toDayList(mention, at)).length;
  }

  countState(state: StoredMention["state"]): number {
    return this.#find("state", state).length;
  }

  set(mention: StoredMention): void {
    this.put(toEntry(mention, toJson(mention)), mention);
  }

  put(entry: Entry, mention = this.read(entry)): void {
    const former = this.#remove(entry.id);
    const names = readNames(mention);
    this.#entries.set(entry.id, entry);
    for (const name of listNames(mention, names)) this.#lists.add(name, entry);
    if (entry.isReply) this.#place(entry, mention);
    const hasReplies = (name: string) => this.#ownReplies.has(name) || this.#find("replies", name).length > 0;
    entry.isAnswered = names.some(hasReplies);
    if (entry.isReply) for (const one of this.#find("name", mention.subject ?? "")) one.isAnswered = true;
    this.#placeReplies([...former, ...(entry.isReply ? names : [])]);
  }

  delete(id: string): void {
    if (this.#entries.has(id)) this.#placeReplies(this.#remove(id));
  }

  /** @returns the names by which others replied to it */
  #remove(id: string): readonly string[] {
    const before = this.#entries.get(id);
    this.#changes?.push({ id, before });
    if (!before) return [];
    const mention = this.read(before);
    this.#entries.delete(id);
    const names = readNames(mention);
    for (const name of listNames(mention, names)) this.#lists.remove(name, before);
    for (const page of before.above) this.#lists.remove(toList("page", page), before);
    return before.isReply ? names : [];
  }

  /** Runs `work`. @returns the changes that it makes */
  record(work: () => void): Change[] {
    const changes: Change[] = [];
    this.#changes = changes;
    work();
    this.#changes = null;
    return changes;
  }

  undo(changes: readonly Change[]): void {
    for (const { id, before } of changes.toReversed()) {
      if (before) this.put(before);
      else this.delete(id);
    }
  }

  /** Whether a reply that is not shown has shown answers, directly or below others that are not shown, or one of the site. */
  isPlace(entry: Entry, seen = new Set<Entry>()): boolean {
    if (!entry.isReply || entry.state === "shown" || !entry.isAnswered || seen.has(entry)) return false;
    seen.add(entry);
    const names = readNames(this.read(entry)).filter((name) => this.#findReply(name) === entry);
    // The site may answer a held reply before it is approved.
    if (entry.state !== "held" && names.some((name) => this.#ownReplies.has(name))) return true;
    const answers = names.flatMap((name) => this.#find("replies", name));
    return answers.some((answer) => answer.state === "shown" || this.isPlace(answer, seen));
  }

  /** Lists a reply on the pages whose conversations have it. @returns whether these have changed */
  #place(entry: Entry, mention: StoredMention): boolean {
    const above = this.#findPagesAbove(mention);
    if (above.length === entry.above.length && above.every((page, i) => page === entry.above[i])) return false;
    // These lists have it anyway.
    const own: (string | null)[] = [mention.target, mention.under];
    const lists = (pages: readonly string[]) =>
      pages.filter((page) => !own.includes(page)).map((page) => toList("page", page));
    for (const name of lists(entry.above)) this.#lists.remove(name, entry);
    for (const name of lists(above)) this.#lists.add(name, entry);
    entry.above = above;
    return true;
  }

  /** Places the replies below a reply with these names, which has changed. */
  #placeReplies(names: readonly string[]): void {
    const seen = new Set<Entry | TwtLike>();
    const ahead = [...names];
    for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
      for (const twt of this.#ownReplies.get(name) ?? []) {
        if (!seen.has(twt)) ahead.push(...twtNames(twt));
        seen.add(twt);
      }
      const ofPage = this.#twts.has(name) ? this.#find("page", name).filter(({ isReply }) => isReply) : [];
      for (const entry of [...this.#find("replies", name), ...ofPage]) {
        if (seen.has(entry)) continue;
        seen.add(entry);
        const mention = this.read(entry);
        if (this.#place(entry, mention)) ahead.push(...readNames(mention));
      }
    }
  }

  /** The pages whose conversations have a reply: those of the reply above it, or its own, and those that this one's post replies to. */
  #findPagesAbove({
    id,
    subject,
    under,
    target,
  }: Pick<StoredMention, "id" | "subject" | "under" | "target">): readonly string[] {
    const pages = new Set<string>();
    const reply = this.#findReply(subject, id);
    if (reply) return reply.above;
    const isKnown = subject !== null && (this.#twts.has(subject) || this.#find("page", subject).length > 0);
    for (let name: string | null = isKnown ? subject : (under ?? target); name !== null; ) {
      const twt = this.#twts.get(name);
      const page = twt ? twtKey(twt) : name;
      if (pages.has(page)) break;
      pages.add(page);
      name = twt?.replyTo ?? null;
      const above = this.#findReply(name, id);
      if (above) return [...new Set([...pages, ...above.above])];
      if (name !== null && !this.#twts.has(name)) break;
    }
    return [...pages];
  }

  /** The reply with this name: the oldest shown one, else the oldest. `null` for one of the site's own twts. */
  #findReply(name: string | null, except?: string): Entry | null {
    if (name === null || this.#twts.has(name)) return null;
    const named = this.#find("name", name).filter(({ isReply, id }) => isReply && id !== except);
    if (named.length < 2) return named[0] ?? null;
    const shown = named.filter(({ state }) => state === "shown");
    const time = (entry: Entry) => this.read(entry).published ?? entry.received;
    return (shown.length > 0 ? shown : named).reduce((oldest, one) => (time(one) < time(oldest) ? one : oldest));
  }
}

export function toEntry({ id, received, state, type }: StoredMention, json: JsonText): Entry {
  return { id, received, state, isReply: type === "reply", above: NO_PAGES, isAnswered: false, plan: 0, json };
}

/** The lists of a mention, besides those of its conversation. @param names - see {@link readNames} */
function listNames(mention: StoredMention, names: readonly string[]): Set<string> {
  const { type, instant, given, subject, target, under, author, identity, state, received } = mention;
  return new Set([
    ALL,
    toList("state", state),
    ...(state === "shown" || state === "rejected" ? [toDayList(mention, received)] : []),
    ...duplicateKeys(mention),
    sourceKey(given, instant),
    ...names.map((each) => toList("name", each)),
    ...(type === "reply" && subject !== null ? [toList("replies", subject)] : []),
    toList("page", target),
    toList("page", under ?? target),
    ...(author.guest ? [toList("guest", identity), ...(state === "held" ? [HELD_COMMENTS] : [])] : []),
  ]);
}

/** What a reply can name: the hashes of any mention, and the URLs and earlier names of replies. */
function readNames(mention: StoredMention): readonly string[] {
  if (mention.type === "reply") {
    return mentionEntry({ ...mention, source: toSource(mention), replyTo: mention.subject }).names;
  }
  return [mention.hash, mention.hashV1].filter((name) => name !== null);
}

function twtNames(twt: TwtLike): string[] {
  return [twtKey(twt), ...twt.hashes];
}

/** @param name - a URL, hash or state */
function toList(kind: ListKind, name: string): string {
  return `${kind} ${name}`;
}

/** The mentions of a host, or of an account of another network, that were shown on the day of a time. */
function toDayList(mention: Pick<StoredMention, "identity" | "author" | "copy">, at: string): string {
  const sender = mention.copy === undefined ? readHost(mention).replace(/:\d+$/, "") : mention.author.url;
  return `shown ${at.slice(0, 10)} ${sender}`;
}
