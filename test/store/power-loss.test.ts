import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { seededRandom } from "../cli/blob-writers.js";
import { COMPILED } from "../helpers/paths.js";
import { contentOf } from "./steps.js";

// The disk of this test keeps what was synced, and any part of the rest. A library records all writes and syncs of a
// process; from any prefix of this record, the test makes the files that a power loss at that moment could leave.

const STEPS = 24;
const work = mkdtempSync(join(tmpdir(), "twtxt-power-"));
const library = join(work, "trace.so");
const child = join(COMPILED, "power-loss-child.mjs");
const source = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const canTrace = process.platform === "linux" && spawnSync("cc", ["--version"]).status === 0;

beforeAll(async () => {
  if (!canTrace) return;
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source("trace-writes.c"), "-ldl"]);
  await build({ entryPoints: [source("child.ts")], outfile: child, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

interface Call {
  type: string;
  path: string;
  at: number;
  data: Buffer;
}

/** What a process wrote, in order. */
function traced(folder: string, argument: string): Call[] {
  const file = join(work, `${argument}.trace`);
  const env = { ...process.env, LD_PRELOAD: library, TRACE_ROOT: folder, TRACE_FILE: file };
  const { status, stderr } = spawnSync(process.execPath, [child, "write", folder, argument], { env });
  expect(status, String(stderr)).toBe(0);
  const bytes = readFileSync(file);
  const calls: Call[] = [];
  for (let start = 0; start < bytes.length; ) {
    const [name, length] = [bytes.readUInt32LE(start + 1), bytes.readUInt32LE(start + 13)];
    const text = start + 17;
    const path = bytes.toString("utf8", text, text + name);
    const data = bytes.subarray(text + name, text + name + length);
    const type = String.fromCharCode(bytes[start] ?? 0);
    calls.push({ type, path, at: Number(bytes.readBigUInt64LE(start + 5)), data });
    start = text + name + length;
  }
  return calls;
}

interface TracedFile {
  /** Whether its name was synced, with the file or its folder. */
  isNamed: boolean;
  synced: Call[];
  unsynced: Call[];
}

/** The files that a power loss after these calls leaves: what was synced, and some of the other writes. */
function filesAfter(calls: readonly Call[], random: (below: number) => number): Map<string, Buffer> {
  const files = new Map<string, TracedFile>();
  const fileOf = (path: string) => {
    const file = files.get(path) ?? { isNamed: false, synced: [], unsynced: [] };
    files.set(path, file);
    return file;
  };
  for (const call of calls) {
    if (call.type === "U") files.delete(call.path);
    else if (call.type === "S") {
      for (const [path, file] of files) if (dirname(path) === call.path) file.isNamed = true;
      const file = files.get(call.path);
      if (!file) continue;
      file.synced.push(...file.unsynced.splice(0));
    } else if (call.type !== "A") fileOf(call.path).unsynced.push(call);
  }
  const left = [...files].flatMap(([path, { isNamed, synced, unsynced }]): [string, Buffer][] => {
    if (!isNamed && random(2) === 0) return [];
    const some = unsynced.filter(() => random(2) === 0).map((call) => shortened(call, random));
    return [[path, apply([...synced, ...some])]];
  });
  return new Map(left);
}

/** Disks write whole sectors. */
function shortened(call: Call, random: (below: number) => number): Call {
  return random(3) > 0 ? call : { ...call, data: call.data.subarray(0, random(call.data.length / 512 + 1) * 512) };
}

/** A file after some writes. */
function apply(calls: readonly Call[]): Buffer {
  const bytes = Buffer.alloc(calls.reduce((most, { at, data }) => Math.max(most, at + data.length), 0));
  let size = 0;
  for (const { type, at, data } of calls) {
    if (type === "T") bytes.fill(0, at, size);
    else data.copy(bytes, at);
    if (type !== "N") size = type === "T" ? at : Math.max(size, at + data.length);
  }
  return bytes.subarray(0, size);
}

/** The last acknowledged step of each writer. */
function acknowledged(calls: readonly Call[]): Map<string, number> {
  const lines = calls.filter(({ type }) => type === "A").flatMap(({ data }) => data.toString().trim().split("\n"));
  return new Map(lines.map((line) => [line.slice(0, 1), Number(line.slice(2))]));
}

/** The value that a key has after some steps. */
function valueAfter(steps: number, key: number): Uint8Array | null {
  const last = Array.from({ length: steps }, (_, at) => at + 1).findLast((step) => step % 5 === key);
  return last === undefined ? null : contentOf(last);
}

async function lostValues(store: SqliteStore, calls: readonly Call[]): Promise<string[]> {
  const done = acknowledged(calls);
  const lost: string[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    const steps = done.get(name) ?? 0;
    for (let key = 0; key < 5; key += 1) {
      const found = (await store.get(`${name}/${key}`))?.bytes ?? null;
      // The step after the last acknowledged one may have happened.
      const possible = [steps, Math.min(steps + 1, STEPS)].map((count) => valueAfter(count, key));
      if (!possible.some((value) => isSame(value, found))) lost.push(`${name}/${key} after ${steps} steps`);
    }
  }
  return lost;
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null ? one === other : Buffer.from(one).equals(other);
}

describe.skipIf(!canTrace)("after a power loss at any moment", () => {
  it.each(["directly", "thread"])("no acknowledged write is lost, and no value is incomplete: %s", async (how) => {
    const folder = join(work, how);
    const calls = traced(folder, how);
    expect(acknowledged(calls)).toEqual(new Map(["a", "b", "c", "d"].map((name) => [name, STEPS])));
    const random = seededRandom(7);
    for (let losses = 0; losses < 12; losses += 1) {
      const before = calls.slice(0, losses === 0 ? calls.length : random(calls.length));
      const after = join(work, `${how}-${losses}`);
      for (const [path, bytes] of filesAfter(before, random)) {
        const file = join(after, relative(folder, path));
        mkdirSync(dirname(file), { recursive: true });
        // Processes share it in memory only, and it is made again.
        if (!file.endsWith("-shm")) writeFileSync(file, bytes);
      }
      const store = new SqliteStore(after);
      expect(await lostValues(store, before), `loss ${losses} after ${before.length} calls`).toEqual([]);
      expect(await store.check()).toEqual([]);
      store.close();
      rmSync(after, { recursive: true, force: true });
    }
  });
});
