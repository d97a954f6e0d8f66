// plugin/cli/ids.ts: ids as people see and type them: by their first characters.
import { TwtxtError } from "../errors.js";
import type { Kind } from "./options.js";

const SHOWN = 8;

/** An id as it is shown, and can be typed. */
export function shortId(id: string): string {
  return id.slice(0, SHOWN);
}

/**
 * The first characters of a hexadecimal id.
 *
 * @param least - how many characters are needed
 * @param most - the length of a whole id
 */
export function idPrefix(least: number, most: number, expected: string): Kind<string> {
  const pattern = new RegExp(`^[0-9a-f]{${least},${most}}$`, "i");
  return { name: "ID", expected, parse: (text) => (pattern.test(text) ? text.toLowerCase() : null) };
}

/** What ids name, and how they are shown. */
export interface IdUse<T> {
  idOf(one: T): string;
  /** Such as "message in your inbox". */
  what: string;
  /** Such as {@link shortId}. */
  short(id: string): string;
  /** How many characters more tell several ids apart. */
  least: number;
}

/**
 * @returns the one whose id starts with the prefix; `undefined` for none
 * @throws TwtxtError `not-found` where several do
 */
export function findByPrefix<T>(prefix: string, all: readonly T[], use: IdUse<T>): T | undefined {
  const found = all.filter((one) => use.idOf(one).startsWith(prefix));
  if (found.length <= 1) return found[0];
  const more = prefix.length + use.least;
  const ids = found.map(use.idOf).map((id) => (more > use.short(id).length ? id.slice(0, more) : use.short(id)));
  throw new TwtxtError("not-found", `${prefix} is ambiguous: ${ids.join(", ")}. Type more characters.`);
}

/** @throws TwtxtError `not-found` for none, and for several */
export function oneByPrefix<T>(prefix: string, all: readonly T[], use: IdUse<T>): T {
  const found = findByPrefix(prefix, all, use);
  if (found === undefined) throw new TwtxtError("not-found", `No ${use.what} has an id that starts with ${prefix}.`);
  return found;
}
