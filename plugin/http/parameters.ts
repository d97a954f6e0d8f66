// plugin/http/parameters.ts: query parameters.
import { TwtxtError } from "../errors.js";

/**
 * Parses the query parameters of a URL.
 *
 * @throws TwtxtError `bad-request` for an unknown, empty or repeated parameter
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
 * Parses the parameter `limit`. Only one spelling of a number is accepted, so that a CDN caches each page once.
 *
 * @param standard - the default
 * @throws TwtxtError `bad-request`
 */
export function parseLimit(text: string | undefined, most: number, standard = most): number {
  if (text === undefined) return standard;
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= most) return Number(text);
  throw new TwtxtError("bad-request", `"limit" must be a number from 1 to ${most}.`);
}
