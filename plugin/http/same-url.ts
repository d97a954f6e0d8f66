// plugin/http/same-url.ts: normalization and comparison of URLs.
import { isFeedUrl, isSmallWeb, parseUrl, withoutLastDots } from "../url.js";

const UNRESERVED = /[A-Za-z0-9._~-]/;
/** In a path, servers treat these the same whether they are encoded or not: `/@bob` and `/%40bob`. */
const PLAIN_IN_PATH = /[A-Za-z0-9._~!$'()*,:@-]/;

/**
 * Normalizes a URL: scheme and host in lower case, no default port, no trailing dots of the host, no dot segments, no
 * doubled slashes, no percent-encoding of unreserved characters or, in the path, of `!$'()*,:@`, no fragment.
 *
 * @returns `null` for anything but an absolute URL of http, https, gemini or gopher
 * @example normalUrl("HTTP://Bob.example:80//a/%2e/%7Eb?c#d") // "http://bob.example/a/~b?c"
 * @see PROTOCOL 2.4, "The proof"; RFC 3986 6.2
 */
export function normalUrl(url: string): string | null {
  return normalize(url)?.href ?? null;
}

function normalize(url: string): URL | null {
  if (!isFeedUrl(url)) return null;
  const normal = parseUrl(url);
  const hostname = withoutLastDots(normal.hostname);
  const search = withoutNeedlessEncoding(normal.search, UNRESERVED);
  // Decoded before slashes are counted: an encoded dot would hide "/./".
  const pathname = withoutNeedlessEncoding(normal.pathname, PLAIN_IN_PATH).replace(/\/{2,}/g, "/");
  // Each assignment parses the URL again.
  if (url.includes("#")) normal.hash = "";
  if (hostname !== normal.hostname) normal.hostname = hostname;
  if (search !== normal.search || url.includes("?")) normal.search = search;
  if (pathname !== normal.pathname) normal.pathname = pathname;
  return normal;
}

/**
 * A string that is equal for all URLs of the same page or feed: {@link normalUrl}, without the scheme for
 * http and https.
 *
 * @returns `null` as {@link normalUrl}
 * @example comparableUrl("HTTP://Alice.example:80/a#b") // "//alice.example/a"
 * @see PROTOCOL 2.4, "The request"
 */
export function comparableUrl(url: string): string | null {
  const normal = normalize(url);
  if (!normal || isSmallWeb(url)) return normal?.href ?? null;
  const { host, hostname, port, pathname, search } = normal;
  return `//${port === "80" || port === "443" ? hostname : host}${pathname}${search}`;
}

/** Whether two URLs name the same page or feed. */
export function isSameUrl(a: string, b: string): boolean {
  const comparable = comparableUrl(a);
  return comparable !== null && comparable === comparableUrl(b);
}

export function withoutQuery(url: string): string {
  const bare = new URL(url);
  bare.search = "";
  return bare.href;
}

/** RFC 3986 6.2.2.2. Remaining escapes are in upper case. */
function withoutNeedlessEncoding(text: string, plain: RegExp): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return plain.test(character) ? character : code.toUpperCase();
  });
}
