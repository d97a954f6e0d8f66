// plugin/mentions/inform/decision-links.ts: links in notifications with which the author decides about a held mention.
import { createHmac } from "node:crypto";
import { type Clock, DAY } from "../../clock.js";
import { isSameSecret } from "../../http/secret.js";
import type { StoredMention } from "../mention.js";
import { toMentionVersion } from "../receive/event.js";

const VALID_DAYS = 7;

/**
 * Links such as `https://alice.example/moderate/<id>?k=<key>`. Whoever has one may decide about that version of that
 * mention, for seven days, and nothing else.
 *
 * @see PROTOCOL 2.6, "Deciding from a phone"
 */
export class DecisionLinks {
  /** `base`: the URL below which mentions are decided. */
  constructor(private readonly options: { secret: string; base: string; now: Clock }) {}

  format(mention: StoredMention): string {
    return `${this.options.base}/${mention.id}?k=${this.#sign(mention, this.#today() + VALID_DAYS)}`;
  }

  /** Whether a key is that of a link to the mention as it is now. */
  isValid(key: string, mention: StoredMention): boolean {
    const days = Array.from({ length: VALID_DAYS + 1 }, (_, ahead) => this.#today() + ahead);
    return days.some((day) => isSameSecret(key, this.#sign(mention, day)));
  }

  /** @param day - the last one on which the link is valid, in days since 1970 */
  #sign(mention: StoredMention, day: number): string {
    const claim = `${mention.id}\n${toMentionVersion(mention)}\n${day}`;
    return createHmac("sha256", this.options.secret).update(claim).digest("base64url");
  }

  #today(): number {
    return Math.floor(this.options.now() / DAY);
  }
}
