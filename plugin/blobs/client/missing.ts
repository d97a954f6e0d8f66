// plugin/blobs/client/missing.ts: what to say of a blob that a site does not have.
import { TwtxtError } from "../../errors.js";
import type { BlobClient } from "./client.js";
import type { BlobState, NewestStates } from "./newest.js";
import { LEAST, shortKey } from "./short-key.js";

/** What to do about a blob that a site does not have any more. */
export const LOST_WAY_OUT = "`blob put FILE` puts it again; `blob rm KEY` notes on this machine that it is gone.";

const TOO_SHORT = new RegExp(`^[0-9a-f]{1,${LEAST - 1}}$`, "i");

/**
 * Says that there is no such blob, and which one may be meant.
 *
 * @returns `blob-tampered` where it was put and not removed here, else `not-found`
 */
export async function missingBlob(
  key: string,
  { client, newest }: { client: BlobClient; newest: NewestStates },
): Promise<TwtxtError> {
  const lost = lostBlob(await newest.get(key));
  if (lost !== null) {
    return new TwtxtError("blob-tampered", `${key}: ${lost}. ${LOST_WAY_OUT}`);
  }
  const named = (await client.list()).filter(({ filename }) => filename === key).map((blob) => shortKey(blob.key));
  const hints = [
    ...(named.length > 0 ? [` The file of that name is under ${named.join(" and ")}.`] : []),
    ...(TOO_SHORT.test(key) ? [` Of a key that is a SHA-256, type the first ${LEAST} characters or more.`] : []),
  ];
  return new TwtxtError("not-found", `There is no blob ${key}.${hints.join("")}`);
}

/** What has become of a blob that a site does not have. @returns a clause; `null` where that is in order */
export function lostBlob(newest: BlobState | null): string | null {
  if (newest === null || newest.isDeleted) return null;
  return `it was put on ${newest.created}, and the site says that it has none: it was removed, from another machine of yours or by somebody else`;
}
