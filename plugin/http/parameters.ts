// plugin/http/parameters.ts: the parameters of a request's URL, none but those that are known.
import { TwtxtError } from "../errors.js";

/**
 * @returns the parameters that are there
 * @throws TwtxtError `bad-request` for a parameter that is not known, is empty or stands there twice
 */
export function parametersOf<Name extends string>(url: string, names: readonly Name[]): Partial<Record<Name, string>> {
  const parameters = [...new URL(url).searchParams];
  const keys = parameters.map(([key]) => key);
  const isWrong = ([key, value]: [string, string], i: number) =>
    !names.some((name) => name === key) || keys.indexOf(key) !== i || value === "";
  if (parameters.some(isWrong)) {
    throw new TwtxtError("bad-request", `The parameters are ${names.join(", ")}, each once and not empty.`);
  }
  return Object.fromEntries(parameters) as Partial<Record<Name, string>>;
}
