// plugin/mentions/networks/network-records.ts: what the store knows of copies: where they are, when their threads were read, and refusals. PROTOCOL 2.7
import * as v from "valibot";
import { readJson, update } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { Copy, type NetworkName } from "./network.js";

const COPIES = "networks/copies";
export const FAULTS = "networks/faults";
export const THREAD_READINGS = "networks/threads";

/** The copies that the site has posted, by the URL of their post's page. */
const PostedCopies = v.record(v.string(), v.array(Copy));
export type PostedCopies = v.InferOutput<typeof PostedCopies>;

/** Costs one request. @throws TwtxtError `store-failed` */
export async function readPostedCopies(store: Store): Promise<PostedCopies> {
  return (await readJson(store, COPIES, PostedCopies))?.value ?? {};
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
  pages: readonly [page: string, former?: string | undefined],
  copy: Copy | null,
): Promise<void> {
  await update(store, COPIES, PostedCopies, (old) => {
    const entries = Object.entries({ [pages[0]]: [], ...old }).map(([page, copies]) => {
      const others = pages.includes(page) ? copies.filter((one) => one.network !== network) : copies;
      return [page, page === pages[0] && copy ? [...others, copy] : others] as const;
    });
    return Object.fromEntries(entries.filter(([, { length }]) => length > 0));
  });
}

/** Why networks refuse the author's accounts, by network, such as after a token was revoked. */
const Faults = v.record(v.string(), v.string());

export async function readFaults(store: Store): Promise<v.InferOutput<typeof Faults>> {
  return (await readJson(store, FAULTS, Faults))?.value ?? {};
}

/** @param why - `null` after the network has accepted the account */
export async function noteFault(store: Store, network: NetworkName, why: string | null): Promise<void> {
  await update(store, FAULTS, Faults, (old) => {
    const { [network]: before = null, ...others } = old ?? {};
    return before === why ? null : { ...others, ...(why !== null && { [network]: why }) };
  });
}

/** Times are in milliseconds since 1970. */
const Reading = v.object({
  /** When the copy was posted. */
  published: v.number(),
  /** When its thread was last read; 0 for never. */
  read: v.number(),
  /** Since when stored mentions are missing in the thread, by ID. */
  missing: v.exactOptional(v.record(v.string(), v.number())),
  /** Why the last reading failed; absent otherwise. */
  trouble: v.exactOptional(v.string()),
});
export type Reading = v.InferOutput<typeof Reading>;

const Pause = v.object({ notBefore: v.number(), failures: v.number() });
/** Threads by the URLs of their copy and its page, separated by a space; servers by their origin. */
export const ThreadReadings = v.object({
  threads: v.record(v.string(), Reading),
  servers: v.record(v.string(), Pause),
});
export type ThreadReadings = v.InferOutput<typeof ThreadReadings>;

/** The URLs of the copies whose threads cannot be read, with the reason. @param most - how many */
export async function readTroubles(store: Store, most: number): Promise<Record<string, string>> {
  const { threads = {} } = (await readJson(store, THREAD_READINGS, ThreadReadings))?.value ?? {};
  const troubles = Object.entries(threads).flatMap(([key, { trouble }]) =>
    trouble === undefined ? [] : [[key.split(" ", 1)[0] ?? "", trouble] as const],
  );
  return Object.fromEntries(troubles.slice(0, most));
}
