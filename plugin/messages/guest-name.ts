// plugin/messages/guest-name.ts: the name that a guest states in a message. PROTOCOL 3.5
import type { Message, MessageEvent } from "./plaintext.js";

const NAME = "name";
const NAME_LENGTH = 60;
/** Line ends and other space, and control characters. */
const SPACE = /[\s\p{Cc}\p{Zl}\p{Zp}\u2800\u3164\uffa0]+/gu;
/** Changes of direction and invisible characters. The joiners U+200C and U+200D stay: names and emoji need them. */
const INVISIBLE = /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * The comment line of a message that states its writer's name.
 *
 * @returns `null` for a name without a visible character
 * @example nameEvent(" Dana\n") // { name: "name", args: "Dana" }
 */
export function nameEvent(name: string): MessageEvent | null {
  const args = cleanName(name);
  return args === null ? null : { name: NAME, args };
}

/**
 * The name that the first comment line of a message states. It is a claim: anyone can state any name.
 *
 * @returns at most 60 characters in one line; `null` for none
 */
export function readName({ events: [first] }: Pick<Message, "events">): string | null {
  return first?.name === NAME ? cleanName(first.args) : null;
}

function cleanName(text: string): string | null {
  const line = text.toWellFormed().replace(SPACE, " ").replace(INVISIBLE, "").trim();
  const name = [...line].slice(0, NAME_LENGTH).join("").trim();
  return VISIBLE.test(name) ? name : null;
}
