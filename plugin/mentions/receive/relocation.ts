// plugin/mentions/receive/relocation.ts: moves stored mentions to the present URLs of the site.
import type { StoredMention } from "../mention.js";
import { type MentionEvent, toMentionId } from "./event.js";

/** @returns the present URL of a target; the same for one that has not moved */
export type CurrentUrl = (url: string) => string;

/**
 * Moves mentions of earlier URLs, see the option `mentions.aliases`. Their ids depend on their targets, so they change, and
 * decisions that name an earlier id still apply. The next compaction stores the result.
 */
export class Relocation {
  /** Present ids by earlier ones. */
  readonly #ids = new Map<string, string>();

  constructor(readonly currentUrl: CurrentUrl) {}

  /** @returns the given mention itself if it has not moved */
  move(mention: StoredMention): StoredMention {
    const moved = this.#toCurrent(mention);
    if (moved === mention) return mention;
    const id = toMentionId(moved);
    this.#ids.set(mention.id, id);
    return { ...moved, id };
  }

  moveEvent(event: MentionEvent): MentionEvent {
    if (event.kind !== "kept") return { ...event, id: this.#ids.get(event.id) ?? event.id };
    const mention = this.#toCurrent(event.mention);
    if (mention === event.mention) return event;
    this.#ids.set(toMentionId(event.mention), toMentionId(mention));
    return { ...event, mention };
  }

  #toCurrent<M extends Pick<StoredMention, "target" | "under" | "about">>(mention: M): M {
    const move = (url: string | null) => url && this.currentUrl(url);
    const [target, under, about] = [this.currentUrl(mention.target), move(mention.under), move(mention.about)];
    if (target === mention.target && under === mention.under && about === mention.about) return mention;
    return { ...mention, target, under, about };
  }
}
