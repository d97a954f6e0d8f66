// plugin/host/try-store.ts: whether a store can be used, seen before anything comes in.
import { randomBytes } from "node:crypto";
import { TwtxtError } from "../errors.js";
import type { Store } from "../store/store.js";

/**
 * Tries whether a store can be written, and whether of two writers of a key one is refused: a service that does not know the
 * condition would let both win, and lose what one of them has written.
 *
 * @throws TwtxtError `store-failed`
 */
export async function tryStore(store: Store): Promise<void> {
  const key = `trials/${randomBytes(16).toString("hex")}`;
  const first = await store.put(key, randomBytes(16), { isNew: true });
  const second = await store.put(key, randomBytes(16), { isNew: true });
  await store.delete(key);
  if (first !== null && second === null) return;
  throw new TwtxtError(
    "store-failed",
    "The service of this bucket ignores the condition of a write (If-None-Match), so nothing is safe there. Take one that knows it.",
  );
}
