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
export function loopbackHostOf(url: string): string[] {
  const { hostname } = new URL(url);
  return isLoopback(hostname) ? [hostAndPort(new URL(url))] : [];
}

/** The private hosts that a site on loopback, which is a trial, may request beside its own. @param urls - of other sites */
export function loopbackHostsFor(site: string, urls: readonly string[]): string[] {
  return isLoopback(new URL(site).hostname) ? urls.filter((url) => canParseUrl(url)).flatMap(loopbackHostOf) : [];
}

/** `host:port`, with the default port of the scheme if the URL has none. */
export function hostAndPort(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "http:" ? 80 : 443));
}

/** Whether two absolute URLs have the same host and port. */
export function isSameHost(a: string, b: string): boolean {
  return new URL(a).host === new URL(b).host;
}
