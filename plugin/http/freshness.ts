// plugin/http/freshness.ts: how long a response may be cached.

const DAY = 24 * 60 * 60_000;

/**
 * The time until which a response may be reused. `s-maxage` is ignored: it is for shared caches.
 *
 * @param headers - by lower-cased name
 * @returns milliseconds since 1970, at most a day ahead; `null` if the response must not be reused or does not say
 * @see PROTOCOL 2.2, RFC 9111, 4.2
 */
export function freshUntil(headers: Record<string, string>, now: number): number | null {
  const directives = directivesOf(headers["cache-control"] ?? "");
  if (directives.has("no-store") || directives.has("no-cache")) return null;

  const maxAge = directives.get("max-age");
  const lifetime = maxAge === undefined ? untilExpiry(headers, now) : secondsIn(maxAge);
  const left = lifetime - secondsIn(headers.age ?? "");
  return left > 0 ? now + Math.min(left, DAY) : null;
}

/** The first directive of each name counts. */
function directivesOf(cacheControl: string): Map<string, string> {
  const directives = cacheControl.split(",").map((directive): [string, string] => {
    const [name = "", value = ""] = directive.split("=", 2);
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
  });
  return new Map(directives.reverse());
}

/** Measured by the server's own clock if it sends `Date`. */
function untilExpiry(headers: Record<string, string>, now: number): number {
  const expires = Date.parse(headers.expires ?? "");
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(expires) ? 0 : expires - (Number.isNaN(date) ? now : date);
}

/** @returns milliseconds; 0 for anything but a number of seconds */
function secondsIn(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1000 : 0;
}
