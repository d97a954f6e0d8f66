// test/helpers/eventually.ts: waits for background work.
import { vi } from "vitest";
import { LONGEST_MS } from "./longest.js";

/** Repeats a check until it does not throw. The time limit only ends a test that hangs. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, LONGEST_MS / 2);
}
