// plugin/mentions/networks/bluesky.ts: the API of Bluesky (XRPC), of its public app view and of an account's own server.
import type * as v from "valibot";
import { canParseUrl } from "../../url.js";
import type { Copy, NetworkParts } from "./network.js";
import { type NetworkAnswer, type NetworkRequest, requestJson } from "./network-json.js";

/** Answers without an account. */
export const APP_VIEW = "https://public.api.bsky.app";
/** The pages of accounts and posts. */
const PAGES = "https://bsky.app/profile";
const POSTS = "app.bsky.feed.post";
const ACTOR = "did:[a-z]+:[A-Za-z0-9._:%-]+|[A-Za-z0-9.-]+\\.[A-Za-z0-9-]+";
const POST_URI = new RegExp(`^at://(${ACTOR})/${POSTS}/([A-Za-z0-9._~:-]{1,512})$`);
const POST_PATH = new RegExp(`^/profile/(${ACTOR})/post/([A-Za-z0-9._~:-]{1,512})/?$`);

/** A server of Bluesky, as one account or, without a token, as anyone sees it. */
export class BlueskyServer {
  readonly #parts: NetworkParts & { token?: string | undefined };

  /** @param origin - such as {@link APP_VIEW} */
  constructor(
    readonly origin: string,
    parts: NetworkParts & { token?: string | undefined },
  ) {
    this.#parts = parts;
  }

  /** @param method - such as `app.bsky.feed.getLikes?uri=…`. @throws as {@link requestJson} */
  request<T>(
    method: string,
    schema: v.GenericSchema<unknown, T>,
    request: NetworkRequest = {},
  ): Promise<NetworkAnswer<T>> {
    const { token, ...parts } = this.#parts;
    return requestJson(`${this.origin}/xrpc/${method}`, schema, { token, ...request }, parts);
  }
}

/** @returns `null` for anything but a post: its `at://` URI, or its page at bsky.app or another client on the web */
export function parsePostUrl(url: string): Copy | null {
  const path = /^https?:/i.test(url) && canParseUrl(url) ? new URL(url).pathname : "";
  const [, actor, key] = POST_URI.exec(url) ?? POST_PATH.exec(path) ?? [];
  if (actor === undefined || key === undefined) return null;
  return { network: "bluesky", url: toPostPage(actor, key), server: APP_VIEW, id: `at://${actor}/${POSTS}/${key}` };
}

/** The page of an account. @param actor - its handle or DID */
export function toAccountPage(actor: string): string {
  return `${PAGES}/${actor}`;
}

/** The page of a post. @param actor - a DID, which stays the same when the account changes its handle */
export function toPostPage(actor: string, key: string): string {
  return `${PAGES}/${actor}/post/${key}`;
}
