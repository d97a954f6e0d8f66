// plugin/cli/message/ids.ts: ids as a person types them: by their beginnings.
import { TwtxtError } from "../../errors.js";
import { misuse } from "../command.js";

const SHORT = 8;
const LEAST = 4;

/** An id as it is shown, by which it can be typed again. */
export function shortId(id: string): string {
  return id.slice(0, SHORT);
}

/**
 * What is meant by ids or their beginnings, each once.
 *
 * @param what - what they name, as "message of your inbox"
 * @throws TwtxtError `bad-usage` for what cannot be an id or is too short, `not-found` for none and for more than one
 */
export function namedBy<T extends { id: string }>(starts: readonly string[], all: readonly T[], what: string): T[] {
  return [...new Set(starts.map((start) => oneNamedBy(start.toLowerCase(), all, what)))];
}

function oneNamedBy<T extends { id: string }>(start: string, all: readonly T[], what: string): T {
  if (!/^[0-9a-f]{1,64}$/.test(start)) {
    throw misuse(`message: "${start}" is no id: those are of 0-9 and a-f, as the list shows them.`, "message");
  }
  if (start.length < LEAST) {
    throw misuse(
      `message: "${start}" is too short for an id: type ${LEAST} of its characters at the least.`,
      "message",
    );
  }
  const found = all.filter(({ id }) => id.startsWith(start));
  const [one] = found;
  if (one && found.length === 1) return one;
  if (!one) throw new TwtxtError("not-found", `No ${what} has an id that starts with ${start}.`);
  const ids = found.map(({ id }) => id.slice(0, Math.max(SHORT, start.length + LEAST))).join(", ");
  throw new TwtxtError("not-found", `${start} begins several ids: ${ids}. Type more of the one that you mean.`);
}
