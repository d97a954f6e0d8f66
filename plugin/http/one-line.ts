// plugin/http/one-line.ts: what a stranger's server has to say, as one short line that is safe to show.

const LIMIT = 200;
/** As much of a line as a log takes, in characters. */
export const LOG_LENGTH = 2000;
/** Controls and line ends, what turns the direction of all that follows, and what cannot be seen, letters among it. */
const UNSAFE = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uffa0]+/gu;

/**
 * A text without anything that a terminal or a log could take for more than text.
 *
 * @param limit - in characters
 */
export function oneLine(text: string, limit = LIMIT): string {
  const line = text.toWellFormed().replace(UNSAFE, " ").trim();
  return line.length > limit ? `${line.slice(0, limit).toWellFormed()}…` : line;
}

/**
 * The `detail` of a problem (RFC 9457), as one line.
 *
 * @param json - the body of an answer
 * @returns `null` for what is no problem, or says nothing
 */
export function problemDetail(json: string): string | null {
  try {
    const { detail } = Object(JSON.parse(json));
    return typeof detail === "string" && oneLine(detail) !== "" ? oneLine(detail) : null;
  } catch {
    return null;
  }
}
