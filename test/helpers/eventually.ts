// test/helpers/eventually.ts: waits for what happens in the background.
import { vi } from "vitest";
import { LONGEST_MS } from "./longest.js";

/** Tries again until it does not throw. How long that takes decides nothing, but that the test ends. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, LONGEST_MS / 2);
}
