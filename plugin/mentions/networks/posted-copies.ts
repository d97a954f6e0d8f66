// plugin/mentions/networks/posted-copies.ts: the copies that the site has posted, by post.
import * as v from "valibot";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { Copy, NetworkName } from "./network.js";
import { StoredCopy } from "./posting.js";

const KEY = "networks/copies";

/** Copies by the URL of their post's page. */
const PostedCopies = v.record(v.string(), v.array(StoredCopy));
export type PostedCopies = v.InferOutput<typeof PostedCopies>;

/** Costs one request. @throws TwtxtError `store-failed` */
export async function readPostedCopies(store: Store): Promise<PostedCopies> {
  return (await readJson(store, KEY, PostedCopies))?.value ?? {};
}

/**
 * Records a copy of a post, or that it has none any more.
 *
 * @param former - the earlier page of the post, if that has changed
 * @throws TwtxtError `store-failed`
 */
export async function notePostedCopy(
  store: Store,
  network: NetworkName,
  { page, former = page }: { page: string; former?: string },
  copy: Copy | null,
): Promise<void> {
  await update(store, KEY, PostedCopies, (old) => {
    const copies = { ...old };
    const without = (url: string) => (copies[url] ?? []).filter((one) => one.network !== network);
    if (former !== page) copies[former] = without(former);
    copies[page] = [...without(page), ...(copy ? [copy] : [])];
    const entries = Object.entries(copies).filter(([, { length }]) => length > 0);
    return Object.fromEntries(entries);
  });
}
