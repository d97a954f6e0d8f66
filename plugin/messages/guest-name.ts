// plugin/messages/guest-name.ts: the name that a guest states in a message. PROTOCOL 3.5
import { cleanName } from "../site/visible-name.js";
import type { Message, MessageEvent } from "./plaintext.js";

const NAME = "name";

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
