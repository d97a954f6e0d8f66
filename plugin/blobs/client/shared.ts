// plugin/blobs/client/shared.ts: blobs that others share, by their shared URLs. PROTOCOL 4
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { parseKey } from "../../keys/key.js";
import { isBlobKey } from "../../site/blob-url.js";
import { canParseUrl } from "../../url.js";
import type { Coming } from "./client.js";
import { shownBlob } from "./shown.js";

/** What a shared URL says. */
export interface SharedUrl {
  url: string;
  origin: string;
  /** Whose it is, `kex1...`. */
  owner: string;
  key: string;
}

const PATH = /\/(?<owner>kex1[a-z0-9]+)\/(?<key>[^/]+)$/;
/** No site that runs this plugin can be told to take more. */
const MAX_BYTES = 10_000 * 2 ** 20;

/** @returns `null` for what is no shared URL */
export function parseSharedUrl(text: string): SharedUrl | null {
  if (!/^https?:/i.test(text) || !canParseUrl(text)) return null;
  const { href, origin, pathname } = new URL(text);
  const { owner = "", key = "" } = PATH.exec(pathname)?.groups ?? {};
  return isOwner(owner) && isBlobKey(key) ? { url: href, origin, owner, key } : null;
}

function isOwner(text: string): boolean {
  try {
    parseKey(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Asks for a blob that somebody shares.
 *
 * @throws TwtxtError `not-found` where there is none; `blob-tampered` for what is no blob; `unreachable`, `address-refused`
 *   and `too-many-redirects` as the guard
 */
export async function getShared({ url, owner, key }: SharedUrl, ask: Ask): Promise<Coming> {
  // A compressed body would come without its length.
  const { status, headers, body, close } = await ask(url, {
    maxBytes: MAX_BYTES,
    headers: { "accept-encoding": "identity" },
  });
  try {
    if (status !== 200) throw refusal(url, status);
    return { blob: shownBlob(url, { owner, key }, new Headers(headers)), chunks: () => body, close };
  } catch (error) {
    close();
    throw error;
  }
}

function refusal(url: string, status: number): TwtxtError {
  if (status === 404 || status === 410) {
    return new TwtxtError("not-found", `${url} answers ${status}: it is not shared, or not any more.`);
  }
  return new TwtxtError("unreachable", `${url} answers ${status}.`);
}
