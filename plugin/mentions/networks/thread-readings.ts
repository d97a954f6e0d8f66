// plugin/mentions/networks/thread-readings.ts: when the threads of copies were read, and why one could not be. PROTOCOL 2.7
import * as v from "valibot";
import { readJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";

export const THREAD_READINGS = "networks/threads";

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
