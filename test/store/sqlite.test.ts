import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { openDatabase } from "../../plugin/store/sqlite-driver.js";
import { storeContract, valueContract } from "../contract/store.js";
import { COMPILED } from "../helpers/paths.js";
import { contentOf, keyOf } from "./steps.js";

const work = mkdtempSync(join(tmpdir(), "twtxt-store-"));
// Beside the packages, where it finds libsql.
const child = join(COMPILED, "store-child.mjs");
const text = (value: string) => Buffer.from(value);
const storeFailed = expect.objectContaining({ code: "store-failed" });
const UNPRIVILEGED = 65534;
const threaded: SqliteStore[] = [];

beforeAll(async () => {
  const entry = fileURLToPath(new URL("child.ts", import.meta.url));
  await build({ entryPoints: [entry], outfile: child, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => {
  for (const store of threaded) store.close();
  rmSync(work, { recursive: true, force: true });
});

/** The open files of this process below a folder. */
function openBelow(folder: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((number) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${number}`);
      return file.startsWith(folder) ? [file] : [];
    } catch {
      return [];
    }
  });
}

function newFolder(): string {
  return mkdtempSync(join(work, "store-"));
}

/** Runs the child to its end and returns its output. */
function run(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const started = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    started.stdout.on("data", (data) => {
      output += data;
    });
    started.on("error", reject);
    started.on("close", (code) => (code === 0 ? resolve(output.trim()) : reject(new Error(`it ended with ${code}`))));
  });
}

storeContract("sqlite", async () => new SqliteStore(join(newFolder(), "not", "there", "yet")));

// Only writes use the thread.
valueContract("sqlite with a thread", async () => {
  const store = new SqliteStore(join(newFolder(), "new"));
  threaded.push(store);
  await store.prepareForServer();
  return store;
});

describe("a folder", () => {
  it("is shared by two stores", async () => {
    const folder = newFolder();
    const [one, two] = [new SqliteStore(folder), new SqliteStore(folder)];
    const etag = await one.put("a/b", text("one"));
    expect(await two.get("a/b")).toEqual({ bytes: text("one"), etag });
    await two.put("a/b", text("two"), { etag: etag ?? "" });
    expect(await one.put("a/b", text("three"), { etag: etag ?? "" })).toBeNull();
    expect((await one.get("a/b"))?.bytes).toEqual(text("two"));
  });

  it("is readable by its owner only, whatever the umask allows", async () => {
    const folder = join(newFolder(), "new");
    const umask = process.umask(0);
    try {
      await new SqliteStore(folder).put("a/b", text("secret"));
      await new SqliteStore(folder).put("a/b", text("another"));
    } finally {
      process.umask(umask);
    }
    await new SqliteStore(folder).put("a/large", Buffer.alloc(100_000));
    const paths = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })].map((path) => join(folder, path));
    const modes = paths.map((path) => [statSync(path).isDirectory(), statSync(path).mode & 0o777]);
    expect(modes.filter(([isFolder, mode]) => mode !== (isFolder ? 0o700 : 0o600))).toEqual([]);
  });
});

describe("an etag", () => {
  it("is never used twice, not even for the same bytes", async () => {
    const store = new SqliteStore(newFolder());
    const first = await store.put("a", text("same"));
    expect(await store.put("a", text("same"))).not.toBe(first);
    await store.delete("a");
    expect(await store.put("a", text("same"))).not.toBe(first);
    expect(await store.put("a", text("same"), { etag: first ?? "" })).toBeNull();
  });
});

describe("a file of a large value", () => {
  const large = Buffer.alloc(100_000, 7);
  const filesIn = (folder: string) => readdirSync(join(folder, "files"));

  it("is removed when its value is replaced or deleted, also when another writer was faster", async () => {
    const folder = newFolder();
    const store = new SqliteStore(folder);
    const etag = (await store.put("a", large)) ?? "";
    expect(filesIn(folder)).toHaveLength(1);
    await Promise.all(Array.from({ length: 5 }, () => store.put("a", large, { etag })));
    expect(filesIn(folder)).toHaveLength(1);
    await store.put("a", text("small"));
    expect(filesIn(folder)).toEqual([]);
    await store.put("a", large);
    await store.delete("a");
    expect(filesIn(folder)).toEqual([]);
  });

  it("that a killed process left is removed by another one; those of running and unknown processes stay", async () => {
    const folder = newFolder();
    await new SqliteStore(folder).put("a", large);
    const [used = ""] = filesIn(folder);
    const ended = spawn(process.execPath, ["-e", ""]);
    await new Promise((resolve) => ended.on("close", resolve));
    const nameOf = (pid: number | undefined) => used.replace(/\.\d+\.[0-9a-f]{8}\./, `.${pid}.01234567.`);
    const names = {
      ended: nameOf(ended.pid),
      alive: nameOf(process.ppid),
      elsewhere: nameOf(ended.pid).replace(/^[0-9a-f]{8}/, "01234567"),
    };
    for (const name of Object.values(names)) writeFileSync(join(folder, "files", name), "hal");

    const store = new SqliteStore(folder);
    await store.put("b", text("two"));
    await expect.poll(() => filesIn(folder).sort()).toEqual([used, names.alive, names.elsewhere].sort());
    expect((await store.get("a"))?.bytes).toEqual(large);
  });

  it("that a killed process had committed stays", async () => {
    const folder = newFolder();
    await run(process.execPath, [child, "large", folder]);
    const store = new SqliteStore(folder);
    await store.put("b", text("two"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await store.get("large"))?.bytes).toHaveLength(1 << 20);
  });

  it("store-failed: it became shorter; it is closed", async () => {
    const folder = newFolder();
    const store = new SqliteStore(folder);
    await store.put("a", large);
    const file = join(folder, "files", filesIn(folder)[0] ?? "");
    truncateSync(file, 2);
    await expect(store.get("a")).rejects.toThrow(storeFailed);
    const stream = await store.read("a");
    await expect(new Response(stream).arrayBuffer()).rejects.toThrow(storeFailed);
    if (process.platform === "linux") expect(openBelow(join(folder, "files"))).toEqual([]);
    expect(await store.check()).toEqual([expect.stringMatching(/^the file files\/.* with the value of a$/)]);
  });

  it("store-failed: it is missing, which is not a missing value", async () => {
    const folder = newFolder();
    const store = new SqliteStore(folder);
    await store.put("a", large);
    rmSync(join(folder, "files"), { recursive: true });
    await expect(store.get("a")).rejects.toThrow(/is missing: restore a backup/);
    await expect(store.read("a")).rejects.toThrow(storeFailed);
  });
});

describe("a snapshot", () => {
  it("has all values of one moment, with the files of those that were deleted or replaced since", async () => {
    const folder = newFolder();
    const [store, other] = [new SqliteStore(folder), new SqliteStore(folder)];
    const [one, two] = [Buffer.alloc(100_000, 1), Buffer.alloc(100_000, 2)];
    for (const key of ["kept", "replaced", "deleted"]) await store.put(key, one);
    await store.put("small", text("one"));

    const snapshot = await store.snapshot();
    await store.put("replaced", two);
    await other.delete("deleted");
    await other.put("small", text("two"));
    await other.put("new", text("new"));
    expect(await snapshot.keys("")).toEqual(["deleted", "kept", "replaced", "small"]);
    for (const key of ["kept", "replaced", "deleted"]) expect((await snapshot.get(key))?.bytes).toEqual(one);
    expect(await new Response(await snapshot.read("small")).text()).toBe("one");
    await snapshot.close();

    expect((await store.get("replaced"))?.bytes).toEqual(two);
    expect((await store.keys("")).sort()).toEqual(["kept", "new", "replaced", "small"]);
  });

  it("of a store that was never written is empty, and creates nothing", async () => {
    const folder = join(newFolder(), "new");
    const snapshot = await new SqliteStore(folder).snapshot();
    expect(await snapshot.keys("")).toEqual([]);
    await snapshot.close();
    expect(existsSync(join(folder, "store.db"))).toBe(false);
  });
});

describe("the format", () => {
  it("store-failed: data of a newer version is left untouched, and the package is to be updated", async () => {
    const folder = newFolder();
    const store = new SqliteStore(folder);
    await store.put("a", text("one"));
    store.close();
    const database = openDatabase(join(folder, "store.db"));
    database.exec("PRAGMA user_version = 2");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const before = readFileSync(join(folder, "store.db"));

    const older = new SqliteStore(folder);
    const newer = /was written by a newer version: update the package/;
    await expect(older.get("a")).rejects.toThrow(newer);
    await expect(older.put("a", text("two"))).rejects.toThrow(newer);
    await expect(older.delete("a")).rejects.toThrow(newer);
    expect(readFileSync(join(folder, "store.db")).equals(before)).toBe(true);
  });
});

describe("the engine", () => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const hasSqlite = major > 22 || (major === 22 && minor >= 13);
  const countOnce = (program: string) =>
    spawnSync(process.execPath, [program, "count", newFolder(), "1"], { encoding: "utf8" });

  it("prints no warning that SQLite is experimental", () => {
    expect(countOnce(child)).toMatchObject({ status: 0, stdout: "", stderr: "" });
  });

  it.skipIf(hasSqlite)(
    "is loaded without looking up the names of connected hosts, which blocks for seconds without DNS",
    () => {
      const spy = `const { report } = process, read = report.getReport;
      report.getReport = () => (console.log("network", !report.excludeNetwork), read.call(report));`;
      const preload = `data:text/javascript,${encodeURIComponent(spy)}`;
      const { stdout } = spawnSync(process.execPath, ["--import", preload, child, "count", newFolder(), "1"], {
        encoding: "utf8",
      });
      expect(stdout).toMatch(/^(network false\n)+$/);
    },
  );

  it.skipIf(hasSqlite)("store-failed: is missing, and the message has the command that installs it", () => {
    const alone = join(work, "alone.mjs");
    copyFileSync(child, alone);
    const { status, stderr } = countOnce(alone);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/has no SQLite.*Type: npm install libsql@0\.5 /)]);
  });
});

describe("the event loop", () => {
  it("has a turn between bursts of reads", async () => {
    const store = new SqliteStore(newFolder());
    await store.put("a", text("one"));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    // Without turns, this would never end.
    while (turns < 2) await store.get("a");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  });
});

describe("the log of a server", () => {
  it("stays while nothing is read, because a disk without inodes has none for a new one", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = newFolder();
    const [before, server] = [new SqliteStore(folder), new SqliteStore(folder)];
    threaded.push(server);
    await before.put("a", text("one"));
    before.close();
    await server.prepareForServer();
    await server.get("a");
    vi.advanceTimersByTime(60_000);
    expect(existsSync(join(folder, "store.db-wal"))).toBe(true);
  });
});

describe("several processes", () => {
  it("lose no increment of a counter", async () => {
    const folder = newFolder();
    await Promise.all([1, 2].map(() => run(process.execPath, [child, "count", folder, "100"])));
    expect((await new SqliteStore(folder).get("count"))?.bytes).toEqual(text("200"));
  });

  it("lose no acknowledged write and leave no incomplete value when one is killed five times", async () => {
    const folder = newFolder();
    const store = new SqliteStore(folder);
    const expected = new Map<string, Uint8Array>();
    const apply = (step: number) => {
      const value = contentOf(step);
      if (value) expected.set(keyOf(step), value);
      else expected.delete(keyOf(step));
    };

    let step = 0;
    for (let kills = 0; kills < 5; kills += 1) {
      const acknowledged = await stepsUntilKilled(folder, step + 1, 1 + ((kills * 7) % 13));
      expect(acknowledged).toBeGreaterThan(step);
      while (step < acknowledged) apply(++step);
      // The step after the last acknowledged one was done completely or not at all.
      const found = (await store.get(keyOf(step + 1)))?.bytes ?? null;
      if (isSame(found, contentOf(step + 1))) apply(step + 1);
      const values = await Promise.all([...expected.keys()].map(async (key) => (await store.get(key))?.bytes ?? null));
      expect(values.map((value, i) => isSame(value, [...expected.values()][i] ?? null))).not.toContain(false);
      expect((await store.keys("")).sort()).toEqual([...expected.keys()].sort());
      step += 1;
    }
    expect(await store.check()).toEqual([]);
  });
});

/** Runs a process from a step until it has printed this many steps, then kills it. */
function stepsUntilKilled(folder: string, first: number, count: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = spawn(process.execPath, [child, "step", folder, String(first)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let last = 0;
    let left = count;
    createInterface(started.stdout)
      .on("line", (line) => {
        last = Number(line);
        left -= 1;
        if (left === 0) started.kill("SIGKILL");
      })
      .on("close", () => resolve(last));
    started.on("error", reject);
  });
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null ? one === other : Buffer.from(one).equals(other);
}

describe("store-failed", () => {
  it("a read-only folder, whose values stay readable", async () => {
    const folder = newFolder();
    const store = new SqliteStore(folder);
    await store.put("a/b", text("one"));
    store.close();
    await readOnly(folder, async () => {
      await expect(store.put("a/b", text("two"))).rejects.toThrow(storeFailed);
      await expect(store.put("a/c", text("two"))).rejects.toThrow(storeFailed);
      await expect(store.delete("a/b")).rejects.toThrow(storeFailed);
      expect((await store.get("a/b"))?.bytes).toEqual(text("one"));
      expect(await store.keys("")).toEqual(["a/b"]);
    });
    // In another process, since libsql closes a database only when its memory is collected.
    await run(process.execPath, [child, "large", folder]);
    await expect.poll(async () => (await store.get("large"))?.bytes.length).toBe(1 << 20);
  });

  it("an unreadable folder, which is not an empty one", async () => {
    const folder = join(newFolder(), "file");
    writeFileSync(folder, "");
    const store = new SqliteStore(folder);
    await expect(store.get("a")).rejects.toThrow(storeFailed);
    await expect(store.keys("")).rejects.toThrow(storeFailed);
    await expect(store.put("a", text("one"))).rejects.toThrow(storeFailed);
    await expect(store.delete("a")).rejects.toThrow(storeFailed);
  });

  it.each(["there", "new"])("a value too large for the disk, which leaves no files: its key is %s", async (key) => {
    const folder = newFolder();
    const store = new SqliteStore(folder);
    await store.put("there", text("one"));
    store.close();
    // A limit on the file size stops a write in the middle, as a full disk does.
    const limited = ["-c", 'ulimit -f 64 && exec "$0" "$@"', process.execPath, child, "fill", folder, key];
    expect(await run("/bin/sh", limited)).toBe("store-failed EFBIG");
    expect(await store.keys("")).toEqual(["there"]);
    expect((await store.get("there"))?.bytes).toEqual(text("one"));
    expect(readdirSync(join(folder, "files"))).toEqual([]);
  });
});

/** Makes a folder read-only during the action. Root becomes an unprivileged user for it. */
async function readOnly(folder: string, action: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  const paths = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })].map((path) => join(folder, path));
  const folders = paths.filter((path) => statSync(path).isDirectory());
  if (isRoot) for (const path of paths) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
  for (const path of paths) chmodSync(path, folders.includes(path) ? 0o500 : 0o400);
  if (isRoot) chmodSync(work, 0o755);
  if (isRoot) process.seteuid?.(UNPRIVILEGED);
  try {
    await action();
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const path of paths) chmodSync(path, folders.includes(path) ? 0o700 : 0o600);
  }
}
