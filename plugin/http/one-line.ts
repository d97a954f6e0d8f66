// plugin/http/one-line.ts: untrusted text as one short line that is safe to print.

const LIMIT = 200;
/** Maximum length of a log line in characters. */
export const LOG_LENGTH = 2000;
/** Control characters, line ends, changes of text direction, and invisible characters. */
const UNSAFE = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uffa0]+/gu;

/**
 * A text without anything that could control a terminal or forge a log line.
 *
 * @param limit - maximum length in characters
 */
export function oneLine(text: string, limit = LIMIT): string {
  const line = text.toWellFormed().replace(UNSAFE, " ").trim();
  return line.length > limit ? `${line.slice(0, limit).toWellFormed()}…` : line;
}

/** The `code` of a problem document; `null` for anything else. @param json - the body of a response */
export function problemCode(json: string): string | null {
  const { code } = parseObject(json);
  return typeof code === "string" ? code : null;
}

/**
 * The `detail` of a problem document (RFC 9457), as one line.
 *
 * @param json - the body of a response
 * @returns `null` for anything else, or without a detail
 */
export function problemDetail(json: string): string | null {
  const { detail } = parseObject(json);
  return typeof detail === "string" && oneLine(detail) !== "" ? oneLine(detail) : null;
}

/** @returns an object without properties for anything but JSON */
function parseObject(json: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}
