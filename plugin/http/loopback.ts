// plugin/http/loopback.ts: a site that is tried out on one's own machine.

const LOOPBACK = /^(localhost|\[::1\]|127(\.\d+){3})$/i;

/** Whether a host is this machine. @param hostname - as a URL has it */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * What the guard is to let through so that a site under an address of this machine can read itself.
 *
 * @param url - of the site
 * @returns its `host:port`; none for a site on the network
 */
export function loopbackHostOf(url: string): string[] {
  const { protocol, hostname, port } = new URL(url);
  return isLoopback(hostname) ? [`${hostname}:${port || (protocol === "http:" ? "80" : "443")}`] : [];
}
