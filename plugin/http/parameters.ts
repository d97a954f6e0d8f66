// plugin/http/parameters.ts: the parameters of a request's URL, none but those that are known.
import { TwtxtError } from "../errors.js";

/**
 * @returns the parameters that are there
 * @throws TwtxtError `bad-request` for a parameter that is not known, is empty or stands there twice
 */
export function parseParameters<Name extends string>(
  url: string,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const parameters = [...new URL(url).searchParams];
  const keys = parameters.map(([key]) => key);
  const isWrong = ([key, value]: [string, string], i: number) =>
    !names.some((name) => name === key) || keys.indexOf(key) !== i || value === "";
  if (parameters.some(isWrong)) {
    throw new TwtxtError("bad-request", `The parameters are ${names.join(", ")}, each once and not empty.`);
  }
  return Object.fromEntries(parameters) as Partial<Record<Name, string>>;
}

/**
 * How many are wanted, written in the one way that each number has, since each way would be a copy in a cache.
 *
 * @param standard - where nothing is said
 * @throws TwtxtError `bad-request`
 */
export function parseLimit(text: string | undefined, most: number, standard = most): number {
  if (text === undefined) return standard;
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= most) return Number(text);
  throw new TwtxtError("bad-request", `"limit" is a number from 1 to ${most}.`);
}
