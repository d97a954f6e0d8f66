// plugin/options/fault.ts: what is wrong with an option, in words for whoever has written it.
import leven from "leven";
import type * as v from "valibot";

/** The options that there are, by the path of the object that holds them, as `mentions.words`; empty for all of them. */
export type KnownOptions = ReadonlyMap<string, readonly string[]>;

/**
 * A sentence that names the option, what was expected, and what was received.
 *
 * @param needed - what is expected of options that every site has
 */
export function describe(
  issue: v.BaseIssue<unknown>,
  known: KnownOptions,
  needed: Readonly<Record<string, string>>,
): string {
  const path = (issue.path ?? []) as { key: unknown; input: unknown }[];
  const keys = path.map(({ key }) => String(key));
  const name = ["options", ...keys].join(".").replace(/\.(\d+)/g, "[$1]");
  if (issue.type === "strict_object" && issue.expected === "never") {
    return `${name}: there is no such option.${suggestion(keys, known)}`;
  }
  const isLacking = issue.type === "strict_object" && path.length === 1 && issue.expected !== "Object";
  const expected = (isLacking && needed[keys[0] ?? ""]) || issue.message;
  return `${name}: expected ${expected}, got ${show(issue.input)}.`;
}

/** The option that was probably meant: one of that very name in another place, or one of that place with a like name. */
function suggestion(keys: readonly string[], known: KnownOptions): string {
  const key = keys.at(-1) ?? "";
  const elsewhere = [...known].find(([, names]) => names.includes(key));
  if (elsewhere) return ` Did you mean "${[elsewhere[0], key].filter(Boolean).join(".")}"?`;
  const names = known.get(keys.slice(0, -1).join(".")) ?? [];
  const nearest = names.toSorted((a, b) => leven(key, a) - leven(key, b))[0];
  return nearest ? ` Did you mean "${[...keys.slice(0, -1), nearest].join(".")}"?` : "";
}

/** A value as it stands in a message. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "function") return "a function";
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}
