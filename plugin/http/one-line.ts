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

/**
 * The `code` of a problem document (RFC 9457), and its `detail` as one line; `null` where there is none.
 *
 * @param body - of a response, which may be anything else
 */
export function readProblem(body: string): { code: string | null; detail: string | null } {
  const { code, detail } = Object(parseJson(body));
  const line = typeof detail === "string" ? oneLine(detail) : "";
  return { code: typeof code === "string" ? code : null, detail: line === "" ? null : line };
}

/** @returns `null` for anything but JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
