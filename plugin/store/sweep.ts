// plugin/store/sweep.ts: deletion of values that are no longer needed.
import type { Store } from "./store.js";

/** Deletes values, one after the other. @param isOver - when true, nothing more is started */
export async function sweep(
  store: Pick<Store, "delete">,
  keys: readonly string[],
  isOver: () => boolean = () => false,
): Promise<void> {
  for (const key of keys) {
    if (isOver()) return;
    await store.delete(key);
  }
}
