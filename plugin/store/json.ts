// plugin/store/json.ts: values of JSON in a store, checked when they are read.
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import type { Condition, Store } from "./store.js";

/** How often a change is tried while others write the same key. Each time that one loses, another has won. */
const TRIES = 50;

/**
 * A value as its schema wants it.
 *
 * @returns `null` where there is no such key
 * @throws TwtxtError `store-failed`, also for what is no JSON or not of this schema: it is never taken for nothing
 */
export async function readJson<T>(
  store: Store,
  key: string,
  schema: v.GenericSchema<unknown, T>,
): Promise<{ value: T; etag: string } | null> {
  const stored = await store.get(key);
  return stored && { value: parsed(key, stored.bytes, schema), etag: stored.etag };
}

/** As {@link Store.put}. */
export function writeJson(store: Store, key: string, value: unknown, condition?: Condition): Promise<string | null> {
  return store.put(key, Buffer.from(JSON.stringify(value)), condition);
}

/**
 * Reads a value, changes it and writes it back, again and again until nobody else has written in between.
 *
 * @param change - the new value, made of the old one, which is `null` where there is none; `null` leaves the old one as it
 *   is. Called once for each try, so it does nothing else
 * @returns what is stored now
 * @throws TwtxtError `store-failed`, also where others are faster 50 times
 */
export async function update<T>(
  store: Store,
  key: string,
  schema: v.GenericSchema<unknown, T>,
  change: (old: T | null) => T | null,
): Promise<T | null> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const old = await readJson(store, key, schema);
    const value = change(old ? old.value : null);
    if (value === null) return old ? old.value : null;
    if ((await writeJson(store, key, value, old ? { etag: old.etag } : { isNew: true })) !== null) return value;
  }
  throw new TwtxtError("store-failed", `${key} was changed by others ${TRIES} times in a row.`);
}

function parsed<T>(key: string, bytes: Uint8Array, schema: v.GenericSchema<unknown, T>): T {
  const damaged = (why: string, options?: ErrorOptions) =>
    new TwtxtError("store-failed", `What is stored under ${key} cannot be read: ${why}.`, options);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw damaged((error as Error).message, { cause: error });
  }
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw damaged(`${v.getDotPath(issue) ?? "the value"}: ${issue.message}`);
}
