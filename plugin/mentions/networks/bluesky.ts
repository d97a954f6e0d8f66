// plugin/mentions/networks/bluesky.ts: the names of accounts and posts of Bluesky.
import { canParseUrl } from "../../url.js";
import type { Copy, NetworkName } from "./network.js";

/** Answers without an account. */
export const APP_VIEW = "https://public.api.bsky.app";
/** Before the names of methods, at any server. */
export const XRPC = "/xrpc/";
export const POSTS = "app.bsky.feed.post";
/** The pages of accounts and posts. */
const PAGES = "https://bsky.app/profile";
const ACTOR = "did:[a-z]+:[A-Za-z0-9._:%-]+|[A-Za-z0-9.-]+\\.[A-Za-z0-9-]+";
const POST_URI = new RegExp(`^at://(${ACTOR})/${POSTS}/([A-Za-z0-9._~:-]{1,512})$`);
const POST_PATH = new RegExp(`^/profile/(${ACTOR})/post/([A-Za-z0-9._~:-]{1,512})/?$`);

/** @returns `null` for anything but a post: its `at://` URI, or its page at bsky.app or another client on the web */
export function parsePostUrl(url: string): Copy | null {
  const path = /^https?:/i.test(url) && canParseUrl(url) ? new URL(url).pathname : "";
  const [, actor, key] = POST_URI.exec(url) ?? POST_PATH.exec(path) ?? [];
  return actor === undefined || key === undefined ? null : toCopy(actor, key);
}

/** @param actor - a handle, or a DID, which stays the same when the account changes its handle */
export function toCopy(actor: string, key: string): Copy {
  const url = `${toAccountPage(actor)}/post/${key}`;
  return { network: "bluesky", url, server: APP_VIEW, id: `at://${actor}/${POSTS}/${key}` };
}

/** The page of an account. @param actor - its handle or DID */
export function toAccountPage(actor: string): string {
  return `${PAGES}/${actor}`;
}

/** Where an answer to a page is posted. Servers of the fediverse find the posts of all others. */
export function findNetwork(page: string): NetworkName {
  return parsePostUrl(page) === null ? "mastodon" : "bluesky";
}
