// plugin/http/http-date.ts: dates as HTTP has them. RFC 9110, 5.6.7

/** That of today, and the one of RFC 850. */
const WITH_ZONE = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](?:\d\d){1,2} \d\d:\d\d:\d\d GMT$/;
/** That of `asctime()`, which means the same zone. */
const WITHOUT_ZONE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * Reads a date of HTTP, in each of its three forms.
 *
 * @returns milliseconds since 1970; `null` for what is none
 */
export function parseHttpDate(text: string | null): number | null {
  if (text === null || !(WITH_ZONE.test(text) || WITHOUT_ZONE.test(text))) return null;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? null : date;
}
