// plugin/mentions/receive/exclusive.ts: a job that only one of several processes does at a time.
import * as v from "valibot";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";

/** A process that was killed blocks the others for so many milliseconds. */
const DURATION = 60_000;

const Claim = v.object({ until: v.number() });

/**
 * Does a job unless another process is doing it. It can still run twice at once where it takes longer than a minute.
 *
 * @param key - where the store remembers who is doing it
 * @param now - milliseconds since 1970
 */
export async function runExclusively(
  { store, key, now }: { store: Store; key: string; now(): number },
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
