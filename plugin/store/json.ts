// plugin/store/json.ts: JSON values in a store, validated when they are read.
import * as v from "valibot";
import { TwtxtError } from "../errors.js";
import { LostRace, winRace } from "./retry.js";
import type { Condition, Store } from "./store.js";

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Retries after losing a race with another process. */
const TRIES = 50;

/** The error of a value that exists and cannot be read: not an outage of the storage. */
export class DamagedValue extends TwtxtError {
  constructor(message: string, options?: ErrorOptions) {
    super("store-failed", message, options);
  }
}

/**
 * Reads a value and validates it.
 *
 * @param onDamaged - called with the error of a damaged value, which then counts as none; default: it is thrown
 * @returns `null` if the key does not exist
 * @throws TwtxtError `store-failed`; DamagedValue for invalid JSON or a value that does not match the schema
 */
export async function readJson<T>(
  store: Store,
  key: string,
  schema: v.GenericSchema<unknown, T>,
  onDamaged?: (error: DamagedValue) => void,
): Promise<{ value: T; etag: string } | null> {
  try {
    const stored = await store.get(key);
    return stored && { value: parseJson(key, stored.bytes, schema), etag: stored.etag };
  } catch (error) {
    if (!onDamaged || !(error instanceof DamagedValue)) throw error;
    onDamaged(error);
    return null;
  }
}

/** Writes a value as {@link Store.put} does. */
export function writeJson(store: Store, key: string, value: unknown, condition?: Condition): Promise<string | null> {
  return store.put(key, Buffer.from(JSON.stringify(value)), condition);
}

/** The condition that a value was not written since it was read. @param read - `null` if there was none */
export function ifUnchanged(read: { etag: string } | null): Condition {
  return read ? { etag: read.etag } : { isNew: true };
}

/**
 * Reads, changes and writes back a value (optimistic locking).
 *
 * @param change - makes the new value from the old one, which is `null` if the key does not exist; returns `null` to write
 *   nothing. Called once for each try, so it must have no side effects
 * @returns the stored value
 * @throws TwtxtError `store-failed`, also after losing 50 races with other writers
 */
export async function update<T>(
  store: Store,
  key: string,
  schema: v.GenericSchema<unknown, T>,
  change: (old: T | null) => T | null,
): Promise<T | null> {
  const decode = (bytes: Uint8Array) => parseJson(key, bytes, schema);
  return updateValue(store, key, { decode, encode: (value) => Buffer.from(JSON.stringify(value)) }, change);
}

interface Format<T> {
  /** @returns `null` for bytes that a write may replace */
  decode(bytes: Uint8Array): T | null;
  encode(value: T): Uint8Array;
}

/** Does what {@link update} does, for values in another format. */
export async function updateValue<T>(
  store: Store,
  key: string,
  { decode, encode }: Format<T>,
  change: (old: T | null) => T | null,
): Promise<T | null> {
  return winRace(TRIES, async () => {
    const stored = await store.get(key);
    const old = stored && decode(stored.bytes);
    const value = change(old);
    if (value === null) return old;
    if ((await store.put(key, encode(value), ifUnchanged(stored))) !== null) return value;
    throw new LostRace(`${key} was changed by other processes ${TRIES} times in a row.`);
  });
}

/**
 * Parses and validates the bytes of a value.
 *
 * @param key - for the message
 * @throws DamagedValue
 */
export function parseJson<T>(key: string, bytes: Uint8Array, schema: v.GenericSchema<unknown, T>): T {
  const damaged = (why: string, options?: ErrorOptions) =>
    new DamagedValue(`The value of ${key} cannot be read: ${why}.`, options);
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(bytes));
  } catch (error) {
    throw damaged((error as Error).message, { cause: error });
  }
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw damaged(`${v.getDotPath(issue) ?? "the value"}: ${issue.message}`);
}
