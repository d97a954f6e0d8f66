// plugin/http/loopback.ts: sites on the local machine.

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
  const { protocol, hostname, port } = new URL(url);
  return isLoopback(hostname) ? [`${hostname}:${port || (protocol === "http:" ? "80" : "443")}`] : [];
}
