import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FileStore } from "../../plugin/store/file.js";
import { storeContract } from "../contract/store.js";
import { contentOf, keyOf } from "./steps.js";

const work = mkdtempSync(join(tmpdir(), "twtxt-store-"));
const child = join(work, "child.mjs");
const text = (value: string) => Buffer.from(value);
const storeFailed = expect.objectContaining({ code: "store-failed" });
const UNPRIVILEGED = 65534;

beforeAll(async () => {
  const entry = fileURLToPath(new URL("child.ts", import.meta.url));
  await build({ entryPoints: [entry], outfile: child, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

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

/** The version of a key's head, and the names of all files in its folder. */
function inside(folder: string, key: string): { version: string; names: string[] } {
  const names = readdirSync(join(folder, `${key}@`)).sort();
  const head = names.find((name) => name.startsWith("head."));
  return { version: head?.slice("head.".length) ?? "", names };
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

storeContract("file", async () => new FileStore(join(newFolder(), "not", "there", "yet")));

describe("a folder", () => {
  it("is shared by two stores", async () => {
    const folder = newFolder();
    const [one, two] = [new FileStore(folder), new FileStore(folder)];
    const etag = await one.put("a/b", text("one"));
    expect(await two.get("a/b")).toEqual({ bytes: text("one"), etag });
    await two.put("a/b", text("two"), { etag: etag ?? "" });
    expect(await one.put("a/b", text("three"), { etag: etag ?? "" })).toBeNull();
    expect((await one.get("a/b"))?.bytes).toEqual(text("two"));
  });

  it("of the first version, with a file for each value next to its head, can be read, written and cleaned up", async () => {
    const folder = newFolder();
    const versions = { read: "3-0123456789abcdef", written: "1-0123456789abcdef", streamed: "1-0000000000000000" };
    for (const [key, version] of Object.entries(versions)) {
      mkdirSync(join(folder, "old", `${key}@`), { recursive: true });
      writeFileSync(join(folder, "old", `${key}@`, version), `value of ${key}`);
      writeFileSync(join(folder, "old", `${key}@`, `head.${version}`), "");
    }
    const store = new FileStore(folder);
    expect(await store.get("old/read")).toEqual({ bytes: text("value of read"), etag: versions.read });
    expect(await new Response(await store.read("old/streamed")).text()).toBe("value of streamed");
    expect(await store.put("old/written", text("new"), { etag: versions.written })).not.toBeNull();
    expect((await store.get("old/written"))?.bytes).toEqual(text("new"));
    expect(inside(folder, "old/written").names).toHaveLength(2);
    for (const key of await store.keys("old/")) await store.delete(key);
    expect(readdirSync(join(folder, "old"))).toEqual([]);
  });

  it("is readable by its owner only, whatever the umask allows", async () => {
    const folder = join(newFolder(), "new");
    const umask = process.umask(0);
    try {
      await new FileStore(folder).put("a/b", text("secret"));
      await new FileStore(folder).put("a/b", text("another"));
    } finally {
      process.umask(umask);
    }
    const modes = ["", "a", "a/b@"].map((path) => statSync(join(folder, path)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
    const { names } = inside(folder, "a/b");
    expect(names.map((name) => statSync(join(folder, "a/b@", name)).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it("has two files for each key, however many writers it has, and none for a deleted key", async () => {
    const folder = newFolder();
    const store = new FileStore(folder);
    for (let i = 0; i < 10; i += 1) await store.put("a/b", text(`${i}`));
    const etag = (await store.get("a/b"))?.etag ?? "";
    await Promise.all(Array.from({ length: 10 }, (_, i) => store.put("a/b", text(`${i}`), { etag })));
    const { version, names } = inside(folder, "a/b");
    expect(names).toEqual([version, `head.${version}`]);
    await store.delete("a/b");
    expect(readdirSync(join(folder, "a"))).toEqual([]);
    expect(readdirSync(join(folder, ".tmp"))).toEqual([]);
  });

  it("can contain files of other programs, which are not keys and stay", async () => {
    const folder = newFolder();
    const store = new FileStore(folder);
    await store.put("a/b", text("one"));
    writeFileSync(join(folder, "a", "README"), "");
    writeFileSync(join(folder, "a", "b@", ".DS_Store"), "");
    mkdirSync(join(folder, "Thumbs@"));
    await store.put("a/b", text("two"));
    expect(await store.keys("")).toEqual(["a/b"]);
    expect((await store.get("a/b"))?.bytes).toEqual(text("two"));
    expect(existsSync(join(folder, "a", "b@", ".DS_Store"))).toBe(true);
  });
});

describe("an etag", () => {
  it("is never used twice, not even for the same bytes", async () => {
    const store = new FileStore(newFolder());
    const first = await store.put("a", text("same"));
    expect(await store.put("a", text("same"))).not.toBe(first);
    await store.delete("a");
    expect(await store.put("a", text("same"))).not.toBe(first);
    expect(await store.put("a", text("same"), { etag: first ?? "" })).toBeNull();
  });
});

describe("a file left by a killed process", () => {
  it("that was writing a new version is not read, and the next write removes it", async () => {
    const folder = newFolder();
    const store = new FileStore(folder);
    await store.put("a", text("whole"));
    writeFileSync(join(folder, "a@", "2-0123456789abcdef"), "hal");
    expect((await store.get("a"))?.bytes).toEqual(text("whole"));
    await store.put("a", text("next"));
    expect((await store.get("a"))?.bytes).toEqual(text("next"));
    expect(inside(folder, "a").names).toHaveLength(2);
  });

  it("that was removing an old version is not read, and the next write removes it", async () => {
    const folder = newFolder();
    const store = new FileStore(folder);
    await store.put("a", text("one"));
    const { version } = inside(folder, "a");
    await store.put("a", text("two"));
    writeFileSync(join(folder, "a@", version), "one");
    expect((await store.get("a"))?.bytes).toEqual(text("two"));
    await store.put("a", text("three"));
    expect(inside(folder, "a").names).toHaveLength(2);
  });

  it("that was creating or removing a key is not a key, and the first write of another process removes it", async () => {
    const folder = newFolder();
    await new FileStore(folder).put("a", text("one"));
    const ended = spawn(process.execPath, ["-e", ""]);
    await new Promise((resolve) => ended.on("close", resolve));
    const space = existsSync("/proc/self/ns/pid") ? readlinkSync("/proc/self/ns/pid") : "";
    const machine = createHash("sha256")
      .update(hostname() + space)
      .digest("hex")
      .slice(0, 8);
    const nameOf = (from: string, pid: number | undefined) => `${from}.${pid}.01234567.0123456789abcdef`;
    const names = {
      ended: nameOf(machine, ended.pid),
      before: nameOf(machine, process.pid),
      alive: nameOf(machine, process.ppid),
      elsewhere: nameOf("01234567", ended.pid),
      written: nameOf("76543210", ended.pid),
      old: "old",
    };
    for (const name of Object.values(names)) {
      mkdirSync(join(folder, ".tmp", name));
      writeFileSync(join(folder, ".tmp", name, "1-0123456789abcdef"), "hal");
    }
    const before = Date.now() / 1000 - 3700;
    utimesSync(join(folder, ".tmp", names.old, "1-0123456789abcdef"), before, before);
    for (const name of [names.old, names.written]) utimesSync(join(folder, ".tmp", name), before, before);

    const store = new FileStore(folder);
    expect(await store.keys("")).toEqual(["a"]);
    await store.put("b", text("two"));
    expect(readdirSync(join(folder, ".tmp")).sort()).toEqual([names.alive, names.elsewhere, names.written].sort());
  });

  it("is looked for once an hour, because another process may be killed while this one runs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const folder = newFolder();
      const store = new FileStore(folder);
      await store.put("a", text("one"));
      const left = join(folder, ".tmp", "01234567.1.01234567.0123456789abcdef");
      mkdirSync(left);
      utimesSync(left, 0, 0);
      await store.put("b", text("two"));
      expect(existsSync(left)).toBe(true);
      vi.advanceTimersByTime(3600_000);
      await store.put("c", text("three"));
      expect(existsSync(left)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it("store-failed: a file that became shorter while it was read; it is closed", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, null);
    await store.put("a", text("hello"));
    truncateSync(join(folder, "a@", inside(folder, "a").version), 2);
    const stream = await store.read("a", { first: 0, last: 4 });
    if (process.platform === "linux") expect(openBelow(join(folder, "a@"))).toHaveLength(1);
    await expect(new Response(stream).arrayBuffer()).rejects.toThrow(storeFailed);
    if (process.platform === "linux") expect(openBelow(join(folder, "a@"))).toEqual([]);
  });

  it("store-failed: an empty folder is a damaged key, not a missing one", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, null);
    await store.put("a", text("one"));
    const { version } = inside(folder, "a");
    rmSync(join(folder, "a@", version));
    await expect(store.get("a")).rejects.toThrow(storeFailed);
    rmSync(join(folder, "a@", `head.${version}`));
    await expect(store.get("a")).rejects.toThrow(storeFailed);
  });
});

describe("several processes", () => {
  it("lose no increment of a counter", async () => {
    const folder = newFolder();
    await Promise.all([1, 2].map(() => run(process.execPath, [child, "count", folder, "100"])));
    expect(readFileSync(join(folder, "count@", inside(folder, "count").version), "utf8")).toBe("200");
  });

  it("lose no acknowledged write and leave no incomplete value when one is killed twenty times", async () => {
    const folder = newFolder();
    const store = new FileStore(folder);
    const expected = new Map<string, Uint8Array>();
    const apply = (step: number) => {
      const value = contentOf(step);
      if (value) expected.set(keyOf(step), value);
      else expected.delete(keyOf(step));
    };

    let step = 0;
    for (let kills = 0; kills < 20; kills += 1) {
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
    for (const key of expected.keys()) {
      await store.put(key, text("last"));
      expect(inside(folder, key).names).toHaveLength(2);
    }
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
    const store = new FileStore(folder);
    await store.put("a/b", text("one"));
    await readOnly(folder, async () => {
      await expect(store.put("a/b", text("two"))).rejects.toThrow(storeFailed);
      await expect(store.put("a/c", text("two"))).rejects.toThrow(storeFailed);
      await expect(store.delete("a/b")).rejects.toThrow(storeFailed);
      expect((await store.get("a/b"))?.bytes).toEqual(text("one"));
      expect(await store.keys("")).toEqual(["a/b"]);
    });
    await store.put("a/b", text("two"));
    expect((await store.get("a/b"))?.bytes).toEqual(text("two"));
  });

  it("an unreadable folder, which is not an empty one", async () => {
    const folder = join(newFolder(), "file");
    writeFileSync(folder, "");
    const store = new FileStore(folder);
    await expect(store.get("a")).rejects.toThrow(storeFailed);
    await expect(store.keys("")).rejects.toThrow(storeFailed);
    await expect(store.put("a", text("one"))).rejects.toThrow(storeFailed);
    await expect(store.delete("a")).rejects.toThrow(storeFailed);
  });

  it.each(["there", "new"])("a value too large for the disk, which leaves no files: its key is %s", async (key) => {
    const folder = newFolder();
    const store = new FileStore(folder);
    await store.put("there", text("one"));
    // A limit on the file size stops a write in the middle, as a full disk does.
    const limited = ["-c", 'ulimit -f 64 && exec "$0" "$@"', process.execPath, child, "fill", folder, key];
    expect(await run("/bin/sh", limited)).toBe("store-failed EFBIG");
    expect(await store.keys("")).toEqual(["there"]);
    expect((await store.get("there"))?.bytes).toEqual(text("one"));
    expect(inside(folder, "there").names).toHaveLength(1);
    expect(readdirSync(join(folder, ".tmp"))).toEqual([]);
  });
});

/** Makes a folder read-only during the action. Root becomes an unprivileged user for it. */
async function readOnly(folder: string, action: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  const paths = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })].map((path) => join(folder, path));
  const folders = paths.filter((path) => statSync(path).isDirectory());
  if (isRoot) for (const path of paths) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
  for (const path of folders) chmodSync(path, 0o500);
  if (isRoot) chmodSync(work, 0o755);
  if (isRoot) process.seteuid?.(UNPRIVILEGED);
  try {
    await action();
  } finally {
    if (isRoot) process.seteuid?.(0);
    for (const path of folders) chmodSync(path, 0o700);
  }
}
