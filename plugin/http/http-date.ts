// plugin/http/http-date.ts: HTTP dates. RFC 9110, 5.6.7

/** The current format, and that of RFC 850. */
const WITH_ZONE = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](?:\d\d){1,2} \d\d:\d\d:\d\d GMT$/;
/** The format of `asctime()`, which is in GMT, too. */
const WITHOUT_ZONE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Parses an HTTP date in any of its three formats.
 *
 * @returns milliseconds since 1970; `null` for anything else
 */
export function parseHttpDate(text: string | null): number | null {
  if (text === null || !(WITH_ZONE.test(text) || WITHOUT_ZONE.test(text))) return null;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? null : date;
}
