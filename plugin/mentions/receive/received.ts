// plugin/mentions/receive/received.ts: the site's received mentions, and pages of them.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { isSameUrl, withoutQuery } from "../../http/same-url.js";
import { answeredEntries, asMention, Conversations, mentionKey, type TwtLike } from "../../site/conversation.js";
import { isSameHost } from "../../url.js";
import type { ListMentions, MentionState, StoredMention } from "../mention.js";
import { toSource } from "../reference.js";
import { type MentionEvent, type NewMention, toMentionId, toMentionVersion } from "./event.js";
import type { Journal } from "./journal.js";

interface ReceivedOptions {
  journal: Journal;
  /** The twts of the site, which mentions reply to. */
  twts: readonly TwtLike[];
  now: Clock;
  /** Called when the shown mentions may have changed. */
  onChange(): Promise<void>;
}

/** A source as given, with the URL that answered. */
interface SourceQuery {
  url: string;
  /** `null` if nothing answered. */
  identity: string | null;
  instant: string | null;
  timestamps: readonly string[];
  target: string;
}

/** The mentions that a site has received. Changes are durable when their methods return. */
export class ReceivedMentions {
  readonly journal: Journal;
  readonly #now: Clock;
  readonly #onChange: ReceivedOptions["onChange"];
  readonly #sorted = new WeakMap<ReadonlyMap<string, StoredMention>, StoredMention[]>();
  readonly #replies = new WeakMap<ReadonlyMap<string, StoredMention>, ShownReplies>();
  readonly #twts: readonly TwtLike[];

  constructor({ journal, twts, now, onChange }: ReceivedOptions) {
    this.#twts = twts;
    this.journal = journal;
    this.#now = now;
    this.#onChange = onChange;
  }

  readonly list: ListMentions = async ({ state, target, after, limit, withPlaces = false }) => {
    const known = await this.journal.read();
    const replies = target !== undefined || withPlaces ? this.#listReplies(known) : null;
    const inConversation = target === undefined ? null : (replies?.below(target) ?? null);
    const places = withPlaces ? replies?.places : undefined;
    const isAbout = (mention: StoredMention) =>
      inConversation === null ||
      mention.target === target ||
      mention.under === target ||
      inConversation.has(mention.id);
    const isWanted = (mention: StoredMention) => {
      if (places?.has(mention.id)) return inConversation?.has(mention.id) ?? true;
      return (state === undefined ? mention.state !== "removed" : mention.state === state) && isAbout(mention);
    };
    if (after !== undefined) checkCursor(after, (id) => known.get(id));
    const page = selectPage(this.#newestFirst(known), { isWanted, after, limit });
    if (inConversation === null) return page;
    const mentions = page.mentions.map((mention) => (inConversation.has(mention.id) ? mention : asMention(mention)));
    return { ...page, mentions };
  };

  /** @returns the time of storing, `YYYY-MM-DDThh:mm:ss.sssZ` */
  async keep(mention: NewMention): Promise<string> {
    const at = await this.journal.add({ kind: "kept", at: this.#at(), mention });
    await this.#onChange();
    return at;
  }

  /** Finds the mention with the same source and target. */
  async find(mention: NewMention): Promise<StoredMention | null> {
    return (await this.journal.read()).get(toMentionId(mention)) ?? null;
  }

  /** The stored mentions of a source. A redirect from another host does not count: only the source can retract. */
  async ofSource({ url, identity, instant, timestamps, target }: SourceQuery): Promise<StoredMention[]> {
    const answered = identity ?? url;
    const names = [answered, withoutQuery(answered)];
    const isOfSource = (mention: StoredMention) =>
      mention.state !== "removed" &&
      mention.instant === instant &&
      mention.target === target &&
      (mention.timestamp === null || timestamps.includes(mention.timestamp)) &&
      (names.some((name) => isSameUrl(name, mention.identity)) ||
        (mention.given === url && isSameHost(url, mention.identity)));
    return [...(await this.journal.read()).values()].filter(isOfSource);
  }

  /** Removes a mention that its source retracted. */
  async remove(id: string): Promise<void> {
    await this.#add([{ kind: "removed", at: this.#at(), id }]);
  }

  /**
   * Records the author's decision.
   *
   * @param version - the mention's {@link toMentionVersion}; `null` for any
   * @returns the mention; `null` if there is none with this id
   * @throws TwtxtError `precondition-failed` if the mention has changed
   */
  async moderate(id: string, state: MentionState, version: string | null): Promise<StoredMention | null> {
    const mention = (await this.journal.read()).get(id);
    if (!mention || mention.state === "removed") return null;
    if (version !== null && version !== toMentionVersion(mention)) {
      throw new TwtxtError("precondition-failed", "The mention has changed since it was listed. List it again.");
    }
    await this.#add([{ kind: "moderated", at: this.#at(), id, state, version }]);
    return { ...mention, state };
  }

  /** Deletes mentions, and the places of removed ones. @returns how many mentions there were */
  async forget(which: (mention: StoredMention) => boolean): Promise<number> {
    const found = [...(await this.journal.read()).values()].filter(which);
    await this.#add(found.map(({ id }) => ({ kind: "forgotten", at: this.#at(), id })));
    return found.filter(({ state }) => state !== "removed").length;
  }

  async #add(events: readonly MentionEvent[]): Promise<void> {
    for (const event of events) await this.journal.add(event);
    if (events.length > 0) await this.#onChange();
  }

  #at(): string {
    return new Date(this.#now()).toISOString();
  }

  /** Arranges the replies of each version of the list once. */
  #listReplies(all: ReadonlyMap<string, StoredMention>): ShownReplies {
    const known = this.#replies.get(all) ?? new ShownReplies(all.values(), this.#twts);
    this.#replies.set(all, known);
    return known;
  }

  /** Sorts each version of the list once. */
  #newestFirst(all: ReadonlyMap<string, StoredMention>): StoredMention[] {
    const known = this.#sorted.get(all) ?? [...all.values()].sort(newestFirst);
    this.#sorted.set(all, known);
    return known;
  }
}

/** The sort key: `received` is `YYYY-MM-DDThh:mm:ss.sssZ`, `id` 32 hex digits. */
interface ListItem {
  received: string;
  id: string;
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f]{32})$/;

/**
 * Takes one page from a list.
 *
 * @param mentions - newest first
 * @param after - the cursor from the previous page
 * @returns `next`: the cursor for the next page; `null` on the last page
 * @throws TwtxtError `bad-request` for an invalid cursor
 */
export function selectPage<T extends ListItem>(
  mentions: Iterable<T>,
  {
    isWanted = () => true,
    after,
    limit,
  }: { isWanted?(mention: T): boolean; after?: string | undefined; limit: number },
): { mentions: T[]; next: string | null } {
  const start = after === undefined ? null : parseCursor(after);
  const page: T[] = [];
  for (const mention of mentions) {
    if ((start && newestFirst(start, mention) >= 0) || !isWanted(mention)) continue;
    if (page.length === limit) return { mentions: page, next: toCursor(page.at(-1)) };
    page.push(mention);
  }
  return { mentions: page, next: null };
}

/**
 * Rejects a cursor that names no mention, since forged ones would fill the CDN's cache.
 *
 * @param find - looks up a mention by id
 * @throws TwtxtError `bad-request`
 * @see PROTOCOL 2.4, "The answer"
 */
function checkCursor(after: string, find: (id: string) => ListItem | undefined): void {
  const { received, id } = parseCursor(after);
  if (find(id)?.received !== received) throw noCursor();
}

export function newestFirst(a: ListItem, b: ListItem): number {
  const [x, y] = a.received === b.received ? [a.id, b.id] : [a.received, b.received];
  return x < y ? 1 : x > y ? -1 : 0;
}

/** The cursor for what follows a mention. */
export function toCursor(mention: ListItem | undefined): string | null {
  return mention ? `${mention.received}_${mention.id}` : null;
}

function parseCursor(text: string): ListItem {
  const [, received, id] = CURSOR.exec(text) ?? [];
  if (received === undefined || id === undefined) throw noCursor();
  return { received, id };
}

function noCursor(): TwtxtError {
  return new TwtxtError("bad-request", 'The parameter "after" is not a cursor that this list has returned.');
}

/**
 * The shown replies of a site, and the places of others with shown answers, by the pages to whose conversations they
 * belong.
 *
 * @see PROTOCOL 2.4, "The proof": a removed or rejected mention with answers keeps an empty place
 */
class ShownReplies {
  readonly #conversations: Conversations;
  readonly #ids = new Map<string, string>();
  /** The ids of replies that are not shown and have shown answers. */
  readonly places: ReadonlySet<string>;

  constructor(mentions: Iterable<StoredMention>, twts: readonly TwtLike[]) {
    const replies = [...mentions].filter(({ type }) => type === "reply");
    const entries = replies.map((reply) => ({ ...reply, source: toSource(reply), replyTo: reply.subject }));
    for (const entry of entries) this.#ids.set(mentionKey(entry), entry.id);
    const shown = entries.filter(({ state }) => state === "shown");
    const places = answeredEntries(
      shown,
      entries.filter(({ state }) => state !== "shown"),
    );
    this.places = new Set(places.map(({ id }) => id));
    this.#conversations = new Conversations([...shown, ...places], twts);
  }

  /** @returns the ids of the replies below a page */
  below(page: string): ReadonlySet<string> {
    return new Set(this.#conversations.below(page).flatMap(({ key }) => this.#ids.get(key) ?? []));
  }
}
