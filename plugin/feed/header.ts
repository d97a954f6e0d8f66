// plugin/feed/header.ts: the comments at the top of a feed that say whose it is.
import { TwtxtError } from "../errors.js";

/** The fields of a header, in the order in which they are written. */
const FIELDS = [
  "nick",
  "url",
  // Early, since one peer (timeline) takes the first `webmention = ` anywhere in the file.
  "webmention",
  "avatar",
  "description",
  "lang",
  "link",
  "follow",
  "refresh",
  "prev",
] as const;

const REPEATABLE: readonly string[] = ["link", "follow"];

export type FieldName = (typeof FIELDS)[number];

const FIELD = /^#[ \t]*([A-Za-z0-9_-]+)[ \t]*=(.*)$/s;

/**
 * Reads a comment, and adds what it says to the fields, by lower-cased name. A comment that is no field says nothing.
 *
 * @param line - with its `#`, without its line end
 */
export function readField(line: string, fields: Map<string, string[]>): void {
  const match = FIELD.exec(line);
  if (!match) return;
  const [, name = "", value = ""] = match;
  const key = name.toLowerCase();
  const values = fields.get(key);
  // Not trim(), which would take U+2028 with it.
  const trimmed = value.replace(/^[ \t]+/, "").replace(/(?<![ \t])[ \t]+$/, "");
  if (values) values.push(trimmed);
  else fields.set(key, [trimmed]);
}

/**
 * Writes the comments of a header, in the order that peers expect.
 *
 * @throws TwtxtError `bad-field` for a field that is not known or a value that another reader would misread
 */
export function formatHeader(fields: Partial<Record<FieldName, readonly string[]>>): string {
  const unknown = Object.keys(fields).find((name) => !FIELDS.some((field) => field === name));
  if (unknown !== undefined) throw new TwtxtError("bad-field", `"${unknown}" is no field of a feed's header.`);

  const repeated = FIELDS.find((name) => !REPEATABLE.includes(name) && (fields[name]?.length ?? 0) > 1);
  if (repeated !== undefined) throw new TwtxtError("bad-field", `The field "${repeated}" stands in a header once.`);

  return FIELDS.flatMap((name) =>
    (fields[name] ?? []).map((value) => {
      const fault = faultOfFieldValue(name, value);
      if (fault) throw new TwtxtError("bad-field", `The field "${name}" may not hold ${fault}: "${value}".`);
      return `# ${name} = ${value}\n`;
    }),
  ).join("");
}

/**
 * Why a value may not stand in a header.
 *
 * @returns what is wrong with it, or `null` if nothing is
 */
export function faultOfFieldValue(name: FieldName, value: string): string | null {
  if (!value.isWellFormed()) return "half of a character";
  if (value !== value.trim() || value === "") return "white space at an end, or nothing at all";
  if (/[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(value)) return "a line break or another control character";
  if (value.includes("#") && name !== "prev") return 'a "#"';
  const other = FIELDS.find((field) => value.toLowerCase().includes(`${field} = `));
  return other ? `"${other} = ", which some readers take for that field` : null;
}
