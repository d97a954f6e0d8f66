// plugin/url.ts: URLs, and their hosts and ports.

const BEYOND_ASCII = /[\u0080-\uffff]/;

/**
 * Whether a text is a URL. After some thousand calls, `URL.canParse` of Node.js 20 and 22 returns `false` for a URL with
 * "ü", because V8's fast call passes Latin-1 where UTF-8 is expected.
 *
 * @example canParseUrl("https://bücher.example/") // true
 */
export function canParseUrl(text: string, base?: string): boolean {
  if (!BEYOND_ASCII.test(text) && !BEYOND_ASCII.test(base ?? "")) return URL.canParse(text, base);
  try {
    return Boolean(new URL(text, base));
  } catch {
    return false;
  }
}

/** A host without the dots at its end: with them, it is the same host. In linear time, unlike a search for `\.+$`. */
export function withoutLastDots(hostname: string): string {
  return hostname.replace(/(?<!\.)\.+$/, "");
}

/** @returns the absolute URL; `null` for an invalid one */
export function resolveUrl(text: string, base: string): string | null {
  return canParseUrl(text, base) ? new URL(text, base).href : null;
}

const LOOPBACK = /^(localhost|\[::1\]|127(\.\d+){3})$/i;

/** Whether a host name, as in a URL, is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * The private host that the guard must allow so that a site on loopback can request its own pages.
 *
 * @param url - the URL of the site
 * @returns its `host:port`; empty for a site that is not on loopback
 */
export function findLoopbackHost(url: string): string[] {
  const { hostname } = new URL(url);
  return isLoopback(hostname) ? [hostAndPort(new URL(url))] : [];
}

/** The private hosts that a site on loopback, which is a trial, may request beside its own. @param urls - of other sites */
export function listLoopbackHosts(site: string, urls: readonly string[]): string[] {
  return isLoopback(new URL(site).hostname) ? urls.filter((url) => canParseUrl(url)).flatMap(findLoopbackHost) : [];
}

/** `host:port`, with the default port of the scheme if the URL has none. */
export function hostAndPort(url: URL): string {
  return `${url.hostname}:${readPort(url)}`;
}

const PORTS: Record<string, number> = { "http:": 80, "https:": 443, "gemini:": 1965, "gopher:": 70 };

export function readPort({ port, protocol }: URL): number {
  return Number(port || (PORTS[protocol] ?? 443));
}

/** Whether a URL is one of gemini or gopher, over which feeds are read, too. PROTOCOL 2.8 */
export function isSmallWeb(url: string): boolean {
  return /^(?:gemini|gopher):\/\//i.test(url);
}

/** Whether a feed can be read from this URL, and a link can lead to it. */
export function isFeedUrl(url: string): boolean {
  return /^(?:https?|gemini|gopher):\/\//i.test(url) && canParseUrl(url);
}

/**
 * Parses a URL. Hosts of gemini and gopher are normalized like those of http, which `URL` does not do by itself.
 *
 * @throws TypeError for an invalid URL
 * @example parseUrl("gemini://Bob.example:1965/a").href // "gemini://bob.example/a"
 */
export function parseUrl(text: string): URL {
  if (!isSmallWeb(text)) return new URL(text);
  const { protocol, port, hash } = new URL(text);
  const { hostname, username, password, pathname, search } = new URL(text.replace(/^\w+/, "http"));
  const credentials = username || password ? `${username}:${password}@` : "";
  const shownPort = port === "" || Number(port) === PORTS[protocol] ? "" : `:${port}`;
  return new URL(`${protocol}//${credentials}${hostname}${shownPort}${pathname}${search}${hash}`);
}

export function isSameHost(a: string, b: string): boolean {
  return new URL(a).host === new URL(b).host;
}

/** @returns `null` for a text that is not percent-encoded UTF-8 */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
