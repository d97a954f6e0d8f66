// plugin/blobs/serve/list.ts: an owner's list of blobs, a page at a time. PROTOCOL 4
import { TwtxtError } from "../../errors.js";
import { json, parseLimit, parseParameters } from "../../http/respond.js";
import { blobJson } from "../blob.js";
import type { StoredBlobs } from "./stored.js";

const MOST = 100;
const PLACE = /^[0-9a-f]{64}$/;

/**
 * Lists blobs in an order that nothing changes: `?after=<cursor>&limit=<1 to 100>`. A page may hold less than the limit.
 *
 * @param sharedUrl - where blobs are shared: that of each is below it
 * @throws TwtxtError `bad-request`, `store-failed`
 */
export async function listBlobs(stored: StoredBlobs, request: Request, owner: string, sharedUrl: string) {
  const { after = "", limit } = parseParameters(request.url, ["after", "limit"]);
  if (after !== "" && !PLACE.test(after)) throw new TwtxtError("bad-request", '"after" is what "next" was before.');
  const most = parseLimit(limit, MOST);
  // A blob that is being replaced has two contents for a moment.
  const places = [...new Set((await stored.places(owner)).map(({ place }) => place))].filter((place) => place > after);
  const page = places.slice(0, most);
  const found = await Promise.all(page.map((place) => stored.at(owner, place)));
  const blobs = found.flatMap((blob) => (blob ? [blobJson(blob, sharedUrl)] : []));
  const next = places.length > most ? (page.at(-1) ?? null) : null;
  return json({ blobs, next }, { headers: { "cache-control": "private, no-store" } });
}
