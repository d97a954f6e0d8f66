// plugin/mentions/networks/posted-copies.ts: the copies that the site has posted, by post.
import * as v from "valibot";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { Copy, type NetworkName } from "./network.js";

const KEY = "networks/copies";

/** Copies by the URL of their post's page. */
const PostedCopies = v.record(v.string(), v.array(Copy));
export type PostedCopies = v.InferOutput<typeof PostedCopies>;

/** Costs one request. @throws TwtxtError `store-failed` */
export async function readPostedCopies(store: Store): Promise<PostedCopies> {
  return (await readJson(store, KEY, PostedCopies))?.value ?? {};
}

/**
 * Records a copy of a post, or that it has none any more.
 *
 * @param pages - the page of the post, then an earlier one if that has changed
 * @throws TwtxtError `store-failed`
 */
export async function notePostedCopy(
  store: Store,
  network: NetworkName,
  [page, former = page]: readonly [page: string, former?: string | undefined],
  copy: Copy | null,
): Promise<void> {
  await update(store, KEY, PostedCopies, (old) => {
    const entries = Object.entries({ [page]: [], ...old }).map(([url, copies]) => {
      const others = url === page || url === former ? copies.filter((one) => one.network !== network) : copies;
      return [url, url === page && copy ? [...others, copy] : others] as const;
    });
    return Object.fromEntries(entries.filter(([, { length }]) => length > 0));
  });
}
