// plugin/mentions/receive/received.ts: the site's received mentions, and pages of them.
import type { Clock } from "../../clock.js";
import { TwtxtError } from "../../errors.js";
import { toInstant } from "../../feed/timestamp.js";
import { isSameUrl, normalUrl, withoutQuery } from "../../http/same-url.js";
import { asMention } from "../../site/conversation.js";
import { isSameHost } from "../../url.js";
import type { Claim, ListMentions, MentionQuery, MentionState, StoredMention } from "../mention.js";
import { type MentionEvent, type NewMention, toMentionId, toMentionVersion } from "./event.js";
import type { Journal } from "./journal.js";
import { noCursor, parseCursor, takePage } from "./sorted-lists.js";

interface ReceivedOptions {
  journal: Journal;
  now: Clock;
  onChange(): Promise<void>;
}

/** The mentions that a site has received. Changes are durable when their methods return. */
export class ReceivedMentions {
  readonly journal: Journal;

  constructor(private readonly options: ReceivedOptions) {
    this.journal = options.journal;
  }

  /** @returns also how many mentions are in this state, on whatever page */
  readonly list = async (query: MentionQuery): Promise<Awaited<ReturnType<ListMentions>> & { count: number }> => {
    const { state, target, after, since = "", limit, withPlaces = false } = query;
    const start = after === undefined ? undefined : parseCursor(after);
    const view = await this.journal.read();
    // Forged cursors would fill the CDN's cache. PROTOCOL 2.4, "The answer"
    if (start && view.entry(start.id)?.received !== start.received) throw noCursor();
    // Few may be held or rejected among all.
    const isOfState = state !== undefined && target === undefined && !withPlaces;
    const entries = isOfState ? view.newestInState(state, start) : view.newestFirst(target, start);
    function* selectEntries() {
      for (const entry of entries) {
        if (entry.received < since) return;
        const isWanted = state === undefined ? entry.state !== "removed" : entry.state === state;
        const mayBePlace = withPlaces && (target === undefined || entry.above.includes(target));
        if (isWanted || (mayBePlace && view.isPlace(entry))) yield entry;
      }
    }
    const { items, next } = takePage(selectEntries(), limit);
    const isOutside = (above: readonly string[]) => target !== undefined && !above.includes(target);
    const mentions = items.map((entry) => (isOutside(entry.above) ? asMention(view.read(entry)) : view.read(entry)));
    return { mentions, next, count: state === undefined ? view.size : view.countState(state) };
  };

  /** @returns the time of storing, `YYYY-MM-DDThh:mm:ss.sssZ`, and the mention; `null` for a repeat of another one */
  async keep(mention: NewMention): Promise<{ at: string; stored: StoredMention | null }> {
    const { at, view } = await this.journal.add({ kind: "kept", at: this.#at(), mention });
    const stored = view.get(toMentionId(mention)) ?? null;
    await this.options.onChange();
    return { at, stored };
  }

  /** Keeps mentions, and tells of the change once. */
  async keepAll(mentions: readonly NewMention[]): Promise<void> {
    await this.#add(mentions.map((mention) => ({ kind: "kept", at: this.#at(), mention })));
  }

  /**
   * The stored mentions of a source. A redirect from another host does not count: only the source can retract.
   *
   * @param answered - the URL that answered; that of the source if nothing did
   */
  async findClaimed({ source, timestamps, target }: Claim, answered = source): Promise<StoredMention[]> {
    const instant = timestamps[0] === undefined ? null : toInstant(timestamps[0]);
    const names = [answered, withoutQuery(answered)];
    const isOfSource = (mention: StoredMention) =>
      mention.state !== "removed" &&
      // Its network removes it: the page of a status need not link to the post.
      mention.copy === undefined &&
      mention.instant === instant &&
      mention.target === target.url &&
      (mention.timestamp === null || timestamps.includes(mention.timestamp)) &&
      (names.some((name) => isSameUrl(name, mention.identity)) ||
        (mention.given === source && isSameHost(source, mention.identity)));
    const normal = names.map((name) => normalUrl(name) ?? name);
    return (await this.journal.read()).findFrom([...names, ...normal, source], instant).filter(isOfSource);
  }

  /** @returns `null` for no such mention, and for the place of a removed one */
  async get(id: string): Promise<StoredMention | null> {
    const mention = (await this.journal.read()).get(id);
    return mention && mention.state !== "removed" ? mention : null;
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
    const mention = await this.get(id);
    if (!mention) return null;
    if (version !== null && version !== toMentionVersion(mention)) {
      throw new TwtxtError("precondition-failed", "The mention has changed since it was listed. List it again.");
    }
    await this.#add([{ kind: "moderated", at: this.#at(), id, state, version }]);
    return { ...mention, state };
  }

  /** The mentions whose IDs start with a text. Compares IDs in memory. */
  async find(prefix: string): Promise<(StoredMention & { state: MentionState })[]> {
    const view = await this.journal.read();
    const entries = [...view.entries()].filter(({ id }) => id.startsWith(prefix));
    return entries.flatMap((entry) => {
      const { state, ...mention } = view.read(entry);
      return state === "removed" ? [] : [{ ...mention, state }];
    });
  }

  /** Rejects mentions that are shown or held. @returns how many */
  async reject(which: (mention: StoredMention) => boolean): Promise<number> {
    const isMeant = (mention: StoredMention) => ["shown", "held"].includes(mention.state) && which(mention);
    const found = [...(await this.journal.read()).values()].filter(isMeant);
    await this.#add(
      found.map(({ id }) => ({ kind: "moderated", at: this.#at(), id, state: "rejected", version: null })),
    );
    return found.length;
  }

  /** Deletes mentions, and the places of removed ones. @returns how many mentions there were */
  async forget(which: (mention: StoredMention) => boolean): Promise<number> {
    const found = [...(await this.journal.read()).values()].filter(which);
    await this.#add(found.map(({ id }) => ({ kind: "forgotten", at: this.#at(), id })));
    return found.filter(({ state }) => state !== "removed").length;
  }

  async #add(events: readonly MentionEvent[]): Promise<void> {
    for (const event of events) await this.journal.add(event);
    if (events.length > 0) await this.options.onChange();
  }

  #at(): string {
    return new Date(this.options.now()).toISOString();
  }
}
