// plugin/http/hosts.ts: hosts and ports of URLs, and sites on the local machine.
import { TwtxtError } from "../errors.js";
import { isLoopback } from "../url.js";

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

/** An `address-refused` for an address in a private network. */
export class PrivateAddressError extends TwtxtError {
  /** @param host - `host:port` */
  constructor(
    message: string,
    readonly host: string,
  ) {
    super("address-refused", message);
  }
}
