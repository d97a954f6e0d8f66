// plugin/feed/header.ts: header fields of a feed.
import { TwtxtError } from "../errors.js";
import { remember } from "../groups.js";

/** The header fields in the order of writing. */
const FIELDS = [
  "nick",
  "url",
  // Early, because timeline takes the first `webmention = ` anywhere in the file.
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
 * Parses a comment and adds its value to the fields, by lower-cased name. Other comments are ignored.
 *
 * @param line - with `#`, without the line end
 */
export function readField(line: string, fields: Map<string, string[]>): void {
  const match = FIELD.exec(line);
  if (!match) return;
  const [, name = "", value = ""] = match;
  // trim() would also remove U+2028.
  const trimmed = value.replace(/^[ \t]+/, "").replace(/(?<![ \t])[ \t]+$/, "");
  remember(fields, name.toLowerCase(), () => []).push(trimmed);
}

/**
 * Writes a header, in the order that peers expect.
 *
 * @throws TwtxtError `bad-field` for an unknown field or a value that other readers would misread
 */
export function formatHeader(fields: Partial<Record<FieldName, readonly string[]>>): string {
  const unknown = Object.keys(fields).find((name) => !FIELDS.some((field) => field === name));
  if (unknown !== undefined) throw new TwtxtError("bad-field", `"${unknown}" is not a header field.`);

  const repeated = FIELDS.find((name) => !REPEATABLE.includes(name) && (fields[name]?.length ?? 0) > 1);
  if (repeated !== undefined) throw new TwtxtError("bad-field", `The field "${repeated}" can only be set once.`);

  return FIELDS.flatMap((name) =>
    (fields[name] ?? []).map((value) => {
      const fault = faultOfFieldValue(name, value);
      if (fault) throw new TwtxtError("bad-field", `The field "${name}" must not contain ${fault}: "${value}".`);
      return `# ${name} = ${value}\n`;
    }),
  ).join("");
}

/** The reason why a value is invalid in a header. @returns `null` for a valid value */
export function faultOfFieldValue(name: FieldName, value: string): string | null {
  if (!value.isWellFormed()) return "half of a surrogate pair";
  if (value !== value.trim() || value === "") return "white space at the start or end, or be empty";
  if (/[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(value)) return "a line break or another control character";
  if (value.includes("#") && name !== "prev") return 'a "#"';
  const other = FIELDS.find((field) => value.toLowerCase().includes(`${field} = `));
  return other ? `"${other} = ", which some readers would take for that field` : null;
}
