// plugin/mentions/receive/exclusive.ts: runs a job in one process at a time.
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";

/** Milliseconds for which a killed process blocks the others. */
const DURATION = 60_000;

const Claim = v.object({ until: v.number() });

/**
 * Runs a job unless another process is running it. A job that takes longer than a minute may run twice at once.
 *
 * @param key - the record of the claim
 */
export async function runExclusively(
  { store, key, now }: { store: Store; key: string; now: Clock },
  job: () => Promise<unknown>,
): Promise<void> {
  const stored = await readJson(store, key, Claim);
  if (stored && stored.value.until > now()) return;
  const condition = stored ? { etag: stored.etag } : ({ isNew: true } as const);
  const etag = await writeJson(store, key, { until: now() + DURATION }, condition);
  if (etag === null) return;
  try {
    await job();
  } finally {
    await writeJson(store, key, { until: 0 }, { etag });
  }
}
