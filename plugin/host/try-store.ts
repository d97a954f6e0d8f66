// plugin/host/try-store.ts: checks a store at startup.
import { randomBytes } from "node:crypto";
import { TwtxtError } from "../errors.js";
import type { Store } from "../store/store.js";

/**
 * Checks that a store can be written and supports conditional writes. Without them, concurrent writers would lose data.
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
