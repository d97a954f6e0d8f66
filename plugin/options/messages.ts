// plugin/options/messages.ts: messages about invalid options.
import { closestMatch } from "leven";
import type * as v from "valibot";

/** The option names by the path of their object, such as `mentions.words`; the empty path for the top level. */
export type KnownOptions = ReadonlyMap<string, readonly string[]>;

/**
 * A sentence about the first issue that names the option, what was expected, and what was received. Unknown options
 * come first: a misspelt required option is also a missing one.
 *
 * @param required - what is expected of each required option
 */
export function formatIssue(
  issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]],
  known: KnownOptions,
  required: Readonly<Record<string, string>>,
): string {
  const unknown = issues.find(({ type, expected }) => type === "strict_object" && expected === "never");
  const issue = unknown ?? issues[0];
  const path = (issue.path ?? []) as { key: unknown; input: unknown }[];
  const keys = path.map(({ key }) => String(key));
  const name = ["options", ...keys].join(".").replace(/\.(\d+)/g, "[$1]");
  if (unknown) return `${name}: there is no such option.${suggestion(keys, known)}`;
  const isMissing = issue.type === "strict_object" && path.length === 1 && issue.expected !== "Object";
  const expected = (isMissing && required[keys[0] ?? ""]) || issue.message;
  return `${name}: expected ${expected}, got ${show(issue.input)}.`;
}

/** Suggests the option of the same name in another object, or the one with the most similar name in this object. */
function suggestion(keys: readonly string[], known: KnownOptions): string {
  const key = keys.at(-1) ?? "";
  const elsewhere = [...known].find(([, names]) => names.includes(key));
  if (elsewhere) return ` Did you mean "${[elsewhere[0], key].filter(Boolean).join(".")}"?`;
  const names = known.get(keys.slice(0, -1).join(".")) ?? [];
  const nearest = closestMatch(key, names);
  return nearest ? ` Did you mean "${[...keys.slice(0, -1), nearest].join(".")}"?` : "";
}

export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "function") return "a function";
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}
