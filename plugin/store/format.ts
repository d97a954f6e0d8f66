// plugin/store/format.ts: the format of stored data. An older program leaves data of a newer format untouched.
import { TwtxtError } from "../errors.js";
import { once } from "../later.js";
import type { StoredValue, StreamingStore } from "./store.js";

/** Increased by a change that makes older programs misread or lose data. */
export const FORMAT = 1;

/** The format of a bucket or of Netlify Blobs, as a number in text. Without this key it is 1. */
const KEY = "format";

/** @throws TwtxtError `store-failed` for a newer format */
export function checkFormat(format: number, place: string): void {
  if (format <= FORMAT) return;
  throw new TwtxtError(
    "store-failed",
    `The data in ${place} was written by a newer version: update the package eleventy-plugin-twtxt. Nothing was changed.`,
  );
}

/** Checks the format of a remote store before its first use. */
export function withFormatCheck(store: StreamingStore, place: string): StreamingStore {
  const ready = once(async () => checkFormat(parseFormat(await store.get(KEY)), place));
  return new Proxy(store, {
    get(_, name: keyof StreamingStore) {
      const method = store[name] as ((...values: unknown[]) => unknown) | undefined;
      return method && (async (...values: unknown[]) => ready().then(() => method.apply(store, values)));
    },
  });
}

function parseFormat(stored: StoredValue | null): number {
  const text = Buffer.from(stored?.bytes ?? []).toString();
  return /^\d{1,9}\n?$/.test(text) ? Number(text) : 1;
}
