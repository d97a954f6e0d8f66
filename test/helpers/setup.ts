// test/helpers/setup.ts: runs before each test file. `SEED=n` makes the property tests try other values.

// esbuild works for good in the folder in which it was imported. A build by Eleventy may import it in a folder that the test deletes.
import dns from "node:dns";
import { createRequire, syncBuiltinESMExports } from "node:module";
import "esbuild";
import fc from "fast-check";
import { afterAll, afterEach, expect } from "vitest";
import { disableUnusedStorages } from "./async-storage.js";
import { runAfterAllHooks, runAfterEachHooks } from "./hooks.js";
import { lookup } from "./loopback-sockets.mjs";
import { holdTimeLimits } from "./time-limits.js";

// Hints name the running package manager; in tests they are the same, however the tests are started.
delete process.env.npm_config_user_agent;
// The settings of a site that is developed on this machine.
for (const name of Object.keys(process.env)) if (name.startsWith("TWTXT_")) delete process.env[name];
holdTimeLimits();
disableUnusedStorages();
// A DNS server answers names such as alice.example late, and after five seconds if a packet was lost.
dns.lookup = lookup;
syncBuiltinESMExports();
startUndiciTimer();
expect.addEqualityTesters([haveEqualBytes]);
fc.configureGlobal({ seed: Number(process.env.SEED ?? 20_261_121) });

afterEach(runAfterEachHooks);
afterAll(runAfterAllHooks);

/** Vitest compares byte by byte, which takes a thousand times as long. `undefined` for other values. */
function haveEqualBytes(one: unknown, other: unknown): boolean | undefined {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array) || one.constructor !== other.constructor) return;
  return Buffer.compare(one, other) === 0;
}

/** All timeouts of undici share one timer. If it started in a test with fake timers, it would never fire again. */
function startUndiciTimer(): void {
  const timers: { setFastTimeout(work: () => void, milliseconds: number): unknown } = createRequire(import.meta.url)(
    "undici/lib/util/timers.js",
  );
  timers.setFastTimeout(() => {}, 0);
}
