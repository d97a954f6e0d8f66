// plugin/mentions/receive/allowance.ts: how much of the owner's time and money strangers may use up.
import { createHash } from "node:crypto";
import * as v from "valibot";
import { readJson, update, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";

const SLOW = "mentions/slow/";
const SPENT = "mentions/spent/";

const SlowHost = v.object({ until: v.number() });
const Spent = v.object({ milliseconds: v.number() });

/** What may still be asked of whom. */
export interface Allowance {
  /** Whether this host may be asked now: it was not too slow of late, and the day's time is not used up. */
  mayAsk(url: string): Promise<boolean>;
  /** Notes what a verification has taken. */
  note(url: string, milliseconds: number, isTimeout: boolean): Promise<void>;
  /** Forgets what counts no more. */
  sweep(): Promise<void>;
}

/**
 * The count of a day is approximate: what is under way counts when it has ended.
 *
 * @see PROTOCOL 2.4, "The proof"
 */
export function allowance({ store, now, limits }: AllowanceOptions): Allowance {
  const today = () => `${SPENT}${new Date(now()).toISOString().slice(0, 10)}`;
  const spentToday = async () => (await readJson(store, today(), Spent))?.value.milliseconds ?? 0;
  const isSlow = async (url: string) => ((await readJson(store, slowKey(url), SlowHost))?.value.until ?? 0) > now();

  return {
    async mayAsk(url) {
      const [slow, spent] = await Promise.all([isSlow(url), spentToday()]);
      return !slow && spent < limits.verificationSeconds * 1000;
    },

    async note(url, milliseconds, isTimeout) {
      await update(store, today(), Spent, (old) => ({ milliseconds: (old?.milliseconds ?? 0) + milliseconds }));
      if (isTimeout && limits.slowHostPause > 0) {
        await writeJson(store, slowKey(url), { until: now() + limits.slowHostPause * 1000 });
      }
    },

    async sweep() {
      for (const key of await store.keys(SPENT)) if (key !== today()) await store.delete(key);
      for (const key of await store.keys(SLOW)) {
        if (((await readJson(store, key, SlowHost))?.value.until ?? 0) <= now()) await store.delete(key);
      }
    },
  };
}

export interface AllowanceOptions {
  store: Store;
  /** Milliseconds since 1970. */
  now(): number;
  limits: {
    /** Seconds; 0 for none. */
    slowHostPause: number;
    /** Seconds a day. */
    verificationSeconds: number;
  };
}

/** A host as part of a key. */
export function hostKey(url: string): string {
  return createHash("sha256").update(new URL(url).hostname).digest("hex").slice(0, 16);
}

function slowKey(url: string): string {
  return `${SLOW}${hostKey(url)}`;
}
