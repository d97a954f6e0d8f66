// plugin/blobs/client/short-key.ts: a content address by its beginning, as people see and type it.
import { isContentAddress } from "../blob.js";

const SHOWN = 12;
/** How many characters of one have to be typed. */
export const LEAST = 6;

/** A key as it is shown, by which it can be typed again. */
export function shortKey(key: string): string {
  return isContentAddress(key) ? key.slice(0, SHOWN) : key;
}
