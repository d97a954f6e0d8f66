// plugin/mentions/receive/received.ts: the mentions that have reached us.
import { TwtxtError } from "../../errors.js";
import { isSameHost, isSameUrl, withoutQuery } from "../../http/same-url.js";
import type { ListMentions, MentionState, StoredMention } from "../mention.js";
import { idOf, type MentionEvent, type NewMention, versionOf } from "./event.js";
import type { Journal } from "./journal.js";
import { checkCursor, newestFirst, pageOf } from "./page.js";

/** The mentions of a site. Each change is durable when it returns. */
export interface Received {
  list: ListMentions;
  /** @returns when it was stored, `YYYY-MM-DDThh:mm:ss.sssZ` */
  keep(mention: NewMention): Promise<string>;
  /** @returns `null` where none is stored of the same source and target */
  find(mention: NewMention): Promise<StoredMention | null>;
  /** Whether it is stored just so already, and there is nothing to keep. */
  holds(mention: NewMention): Promise<boolean>;
  /**
   * What is stored of a source. A redirect from another host does not lead to it: only the source itself can take back
   * what it has said.
   *
   * @param source - the URL that was given, and where it led; `null` where nothing answered
   */
  ofSource(source: {
    url: string;
    identity: string | null;
    instant: string | null;
    timestamps: readonly string[];
    target: string;
  }): Promise<StoredMention[]>;
  /** The source takes it back. */
  remove(id: string): Promise<void>;
  /**
   * The author's decision.
   *
   * @param version - as {@link versionOf} named it in the list; `null` for any
   * @returns the mention; `null` where there is none of this id
   * @throws TwtxtError `precondition-failed` where the mention has another version now
   */
  moderate(id: string, state: Exclude<MentionState, "held">, version: string | null): Promise<StoredMention | null>;
  /** @returns the ids of those that were there */
  forget(which: (mention: StoredMention) => boolean): Promise<string[]>;
  compact: Journal["compact"];
  compactIfLong: Journal["compactIfLong"];
}

/**
 * @param onChange - told after what is shown may have changed
 */
export function receivedMentions({ journal, now, onChange }: ReceivedOptions): Received {
  let last = 0;
  /** Never the same twice, so that events keep their order. */
  const at = () => {
    last = Math.max(now(), last + 1);
    return new Date(last).toISOString();
  };
  const sorted = new WeakMap<ReadonlyMap<string, StoredMention>, StoredMention[]>();
  /** Sorted once, as long as nothing changes. */
  const newest = (all: ReadonlyMap<string, StoredMention>) => {
    const known = sorted.get(all) ?? [...all.values()].sort(newestFirst);
    sorted.set(all, known);
    return known;
  };
  const happen = async (events: readonly MentionEvent[]) => {
    for (const event of events) await journal.add(event);
    if (events.length > 0) await onChange();
  };

  return {
    compact: () => journal.compact(),
    compactIfLong: () => journal.compactIfLong(),
    holds: (mention) => journal.holds(mention),

    async list({ state, target, after, limit }) {
      const isWanted = (mention: StoredMention) =>
        (state === undefined || mention.state === state) &&
        (target === undefined || mention.target === target || mention.under === target);
      const known = await journal.read();
      if (after !== undefined) checkCursor(after, (id) => known.get(id));
      return pageOf(newest(known), { isWanted, after, limit });
    },

    async keep(mention) {
      const kept = { kind: "kept", at: at(), mention } as const;
      await happen([kept]);
      return kept.at;
    },

    find: async (mention) => (await journal.read()).get(idOf(mention)) ?? null,

    async ofSource({ url, identity, instant, timestamps, target }) {
      const answered = identity ?? url;
      const names = [answered, withoutQuery(answered)];
      const isMeant = (mention: StoredMention) =>
        mention.instant === instant &&
        mention.target === target &&
        (mention.timestamp === null || timestamps.includes(mention.timestamp)) &&
        (names.some((name) => isSameUrl(name, mention.identity)) ||
          (mention.given === url && isSameHost(url, mention.identity)));
      return [...(await journal.read()).values()].filter(isMeant);
    },

    remove: (id) => happen([{ kind: "removed", at: at(), id }]),

    async moderate(id, state, version) {
      const mention = (await journal.read()).get(id);
      if (!mention) return null;
      if (version !== null && version !== versionOf(mention)) {
        throw new TwtxtError("precondition-failed", "The mention has changed since it was listed. List it again.");
      }
      await happen([{ kind: "moderated", at: at(), id, state, version }]);
      return { ...mention, state };
    },

    async forget(which) {
      const ids = [...(await journal.read()).values()].filter(which).map(({ id }) => id);
      await happen(ids.map((id) => ({ kind: "forgotten", at: at(), id })));
      return ids;
    },
  };
}

export interface ReceivedOptions {
  journal: Journal;
  /** Milliseconds since 1970. */
  now(): number;
  onChange(): Promise<void>;
}
