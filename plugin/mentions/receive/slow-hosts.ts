// plugin/mentions/receive/slow-hosts.ts: source hosts that timed out and are not asked for a while.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const SLOW = "mentions/slow/";

const SlowHost = v.object({ until: v.number() });

/** Records slow source hosts, one record each. */
export class SlowHosts {
  readonly #options: SlowHostOptions;

  constructor(options: SlowHostOptions) {
    this.#options = options;
  }

  /** Whether the host of this URL timed out recently. */
  async has(url: string): Promise<boolean> {
    return !(await this.#isOver(keyOf(url)));
  }

  async add(url: string): Promise<void> {
    const { store, now, pauseSeconds } = this.#options;
    if (pauseSeconds > 0) await writeJson(store, keyOf(url), { until: now() + pauseSeconds * 1000 });
  }

  /** Deletes records whose pause is over. */
  async sweep(): Promise<void> {
    const { store } = this.#options;
    for (const key of await store.keys(SLOW)) if (await this.#isOver(key)) await store.delete(key);
  }

  async #isOver(key: string): Promise<boolean> {
    const { store, now } = this.#options;
    return ((await readJson(store, key, SlowHost))?.value.until ?? 0) <= now();
  }
}

export interface SlowHostOptions {
  store: Store;
  now: Clock;
  /** 0 for no pause. */
  pauseSeconds: number;
}

/** A host as part of a key. */
export function hostKey(url: string): string {
  return createHash("sha256").update(new URL(url).hostname).digest("hex").slice(0, 16);
}

function keyOf(url: string): string {
  return `${SLOW}${hostKey(url)}`;
}
