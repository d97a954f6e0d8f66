// plugin/mentions/networks/parse-copy.ts: which network a page belongs to.
import { parsePostUrl } from "./bluesky.js";
import { parseStatusUrl } from "./mastodon.js";
import type { Copy, NetworkName } from "./network.js";

/** @returns `null` for a URL that no network has */
export function parseCopy(url: string): Copy | null {
  return parsePostUrl(url) ?? parseStatusUrl(url);
}

/** Where an answer to a page is posted. Servers of the fediverse find the posts of all others. */
export function findNetwork(page: string): NetworkName {
  return parseCopy(page)?.network ?? "mastodon";
}
