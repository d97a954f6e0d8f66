// plugin/http/freshness.ts: how long what a server has said may be remembered.

const DAY = 24 * 60 * 60_000;

/**
 * Until when an answer may be used again without asking.
 *
 * `s-maxage` is not looked at, since it is meant for caches that many people share.
 *
 * @param headers - by lower-cased name
 * @returns milliseconds since 1970, at most a day ahead; `null` where the answer does not say, or says "not at all"
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

/** The first one of each name counts. */
function directivesOf(cacheControl: string): Map<string, string> {
  const directives = cacheControl.split(",").map((directive): [string, string] => {
    const [name = "", value = ""] = directive.split("=", 2);
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
  });
  return new Map(directives.reverse());
}

/** By the other side's own clock where it tells its time. */
function untilExpiry(headers: Record<string, string>, now: number): number {
  const expires = Date.parse(headers.expires ?? "");
  const date = Date.parse(headers.date ?? "");
  return Number.isNaN(expires) ? 0 : expires - (Number.isNaN(date) ? now : date);
}

/** @returns milliseconds; 0 for what is no number of seconds */
function secondsIn(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1000 : 0;
}
