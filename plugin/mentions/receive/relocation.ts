// plugin/mentions/receive/relocation.ts: moves stored mentions to the present URLs of the site.
import type { StoredMention } from "../mention.js";
import { type MentionEvent, type Mentions, toMentionId } from "./event.js";

/** @returns the present URL of a target; the same for one that has not moved */
export type CurrentUrl = (url: string) => string;

/**
 * Moves mentions of earlier URLs, see the option `mentions.aliases`. Their ids depend on their targets, so they change, and
 * decisions that name an earlier id still apply. The next compaction stores the result.
 */
export class Relocation {
  readonly #currentUrl: CurrentUrl;
  /** Present ids by earlier ones. */
  readonly #ids = new Map<string, string>();
  readonly #moved = new WeakMap<ReadonlyMap<string, StoredMention>, ReadonlyMap<string, StoredMention>>();

  constructor(currentUrl: CurrentUrl) {
    this.#currentUrl = currentUrl;
  }

  /** @returns the given mentions themselves if none has moved */
  moveAll(mentions: ReadonlyMap<string, StoredMention>): ReadonlyMap<string, StoredMention> {
    const known = this.#moved.get(mentions) ?? this.#moveEach(mentions);
    this.#moved.set(mentions, known);
    return known;
  }

  moveEvent(event: MentionEvent): MentionEvent {
    if (event.kind === "kept") {
      const mention = this.#move(event.mention);
      return mention === event.mention ? event : { ...event, mention };
    }
    const id = this.#ids.get(event.id);
    return id === undefined ? event : { ...event, id };
  }

  #moveEach(mentions: ReadonlyMap<string, StoredMention>): ReadonlyMap<string, StoredMention> {
    const moved: Mentions = new Map();
    for (const mention of mentions.values()) {
      const next = this.#move(mention);
      const id = next === mention ? mention.id : this.#toId(mention, next);
      const other = moved.get(id);
      // A mention of both URLs: what the author rejected stays rejected.
      if (other === undefined || (other.state !== "rejected" && mention.state !== "removed")) {
        moved.set(id, next === mention ? mention : { ...next, id });
      }
    }
    return moved;
  }

  #move<M extends Pick<StoredMention, "identity" | "instant" | "target" | "under" | "about">>(mention: M): M {
    const [target, under, about] = [mention.target, mention.under, mention.about].map(
      (url) => url && this.#currentUrl(url),
    );
    if (target === mention.target && under === mention.under && about === mention.about) return mention;
    const moved = { ...mention, target: target ?? mention.target, under: under ?? null, about: about ?? null };
    this.#ids.set(toMentionId(mention), toMentionId(moved));
    return moved;
  }

  #toId(mention: StoredMention, moved: StoredMention): string {
    const id = toMentionId(moved);
    this.#ids.set(mention.id, id);
    return id;
  }
}
