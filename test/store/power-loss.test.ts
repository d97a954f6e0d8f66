import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { fileStore } from "../../plugin/store/file.js";
import { nameOfOwn } from "../../plugin/store/leftovers.js";
import type { Store } from "../../plugin/store/store.js";
import { WriteLog } from "../../plugin/store/write-log.js";
import { seeded } from "../cli/blob-writers.js";

const work = mkdtempSync(join(tmpdir(), "twtxt-power-"));
const text = (value: string) => Buffer.from(value);
afterAll(() => rmSync(work, { recursive: true, force: true }));
afterEach(() => {
  vi.restoreAllMocks();
});

/** A name of a start of the machine, as the system gives them. */
const [BEFORE, AFTER] = ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"];

function newFolder(): string {
  return join(mkdtempSync(join(work, "store-")), "store");
}

async function valuesIn(store: Store): Promise<Record<string, string>> {
  const keys = (await store.keys("")).sort();
  const values = await Promise.all(keys.map(async (key) => [key, (await store.get(key))?.bytes.toString()]));
  return Object.fromEntries(values.map(([key, value]) => [key, String(value)]));
}

/** The folder of each key, and the files in it. */
function keyFolders(folder: string): { path: string; files: string[] }[] {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const folders = all.filter((path) => path.endsWith("@") && !path.startsWith("."));
  return folders.map((path) => ({ path: join(folder, path), files: readdirSync(join(folder, path)) }));
}

describe("after a power loss", () => {
  it("a value of which no file was written is there", async () => {
    const folder = newFolder();
    const etag = await fileStore(folder, BEFORE).put("a/b/c", text("one"));
    rmSync(join(folder, "a"), { recursive: true });
    const store = fileStore(folder, AFTER);
    expect(await store.get("a/b/c")).toEqual({ bytes: text("one"), etag });
    expect(readdirSync(folder).sort()).toEqual([".tmp", "a"]);
  });

  it.each(["emptied", "cut off"])("a value whose file is %s is whole", async (how) => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await store.put("new", text("the first value"));
    await store.put("replaced", text("the first value"));
    await store.put("replaced", text("the second value"));
    for (const { path, files } of keyFolders(folder)) {
      for (const file of files) {
        const { size } = statSync(join(path, file));
        truncateSync(join(path, file), how === "emptied" ? 0 : size >> 1);
      }
    }
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({
      new: "the first value",
      replaced: "the second value",
    });
  });

  it("a deleted key stays deleted, and a key that was made again has its later value", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    for (const key of ["gone", "again"]) await store.put(key, text("old"));
    const copy = `${folder}.copy`;
    cpSync(folder, copy, { recursive: true });
    for (const key of ["gone", "again"]) await store.delete(key);
    await store.put("again", text("new"));
    cpSync(join(folder, ".log"), join(copy, ".log"), { recursive: true });
    expect(await valuesIn(fileStore(copy, AFTER))).toEqual({ again: "new" });
  });

  it("a value that is larger than the log takes, and replaces a small one, is there", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    const large = "large ".repeat(10_000);
    await store.put("a", text("small"));
    await store.put("a", text(large));
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: large });
  });

  it("a value that was never acknowledged and is not whole gives way to the one before, or to none", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await store.put("replaced", text("one"));
    const version = versionOf(folder, "replaced");
    await new WriteLog(folder, BEFORE).close();
    // The head of a first version was renamed, and the file of the second is empty.
    const place = join(folder, "replaced@");
    const next = `${Number.parseInt(version, 10) + 1}-0123456789abcdef-00000000`;
    cpSync(join(place, `head.${version}`), join(place, `head.${next}`));
    rmSync(join(place, `head.${version}`));
    writeFileSync(join(place, next), "");
    mkdirSync(join(folder, "new@"));
    writeFileSync(join(folder, "new@", "head.1-0123456789abcdef-00000000"), "");
    mkdirSync(join(folder, "empty@"));
    mkdirSync(join(folder, ".log", BEFORE));
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ replaced: "one" });
    expect(existsSync(join(folder, "new@"))).toBe(false);
    expect(existsSync(join(folder, "empty@"))).toBe(false);
  });

  it("a key that was deleted twice stays deleted, though the process of the first deletion was killed before it wrote its entry", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await store.put("a", text("one"));
    renameSync(join(folder, "a@"), join(folder, ".tmp", nameOfOwn()));
    await store.put("a", text("two"));
    await store.delete("a");
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({});
  });

  it("a key stays deleted whose value is logged after the log of its deletion was removed", async () => {
    const folder = newFolder();
    const [one, other] = [fileStore(folder, BEFORE), fileStore(folder, BEFORE)];
    await one.put("first", text("one"));
    let late: Promise<unknown> = Promise.resolve();
    await duringNextSync("datasync", async () => {
      late = one.put("a", text("one"));
      await expect.poll(() => existsSync(join(folder, "a@"))).toBe(true);
      await other.delete("a");
      await new WriteLog(folder, BEFORE).close();
    });
    await one.put("second", text("one"));
    await late;
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ first: "one", second: "one" });
  });

  it("a value whose file cannot be read is not given up: the store fails, and the file stays", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await store.put("a", text("two"));
    await new WriteLog(folder, BEFORE).close();
    const file = join(folder, "a@", versionOf(folder, "a"));
    rmSync(file);
    symlinkSync(file, file);
    mkdirSync(join(folder, ".log", BEFORE));
    await expect(fileStore(folder, AFTER).keys("")).rejects.toThrow(expect.objectContaining({ code: "store-failed" }));
    rmSync(file);
    writeFileSync(file, "two");
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: "two" });
  });

  it.each(["one", "two"])("the value %s that counts again never leaves the folder of its key", async (value) => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    for (const each of value === "one" ? ["one"] : ["one", "two"]) await store.put("a", text(each));
    await new WriteLog(folder, BEFORE).close();
    const place = join(folder, "a@");
    const next = `${value === "one" ? 2 : 3}-0123456789abcdef-00000000`;
    renameSync(join(place, `head.${versionOf(folder, "a")}`), join(place, `head.${next}`));
    writeFileSync(join(place, next), "");
    mkdirSync(join(folder, ".log", BEFORE));
    const { ino } = statSync(place);
    const after = fileStore(folder, AFTER);
    expect(await valuesIn(after)).toEqual({ a: value });
    expect(statSync(place).ino).toBe(ino);
    await after.put("a", text("next"));
    expect(await valuesIn(after)).toEqual({ a: "next" });
    expect(readdirSync(place)).toHaveLength(2);
  });

  it("an entry that is cut off ends its log, and all before it are there", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await store.put("b", text("two"));
    const [log = ""] = logsIn(folder, BEFORE);
    truncateSync(log, statSync(log).size - 1);
    for (const key of ["a", "b"]) rmSync(join(folder, `${key}@`), { recursive: true });
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("nothing that was acknowledged is lost, whatever part of the files was not written, by two writers, twelve times", async () => {
    const folder = newFolder();
    const random = seeded(1);
    let boot = 0;
    const expected = new Map<string, string>();
    for (let losses = 0; losses < 12; losses += 1) {
      const stores = [0, 1].map(() => fileStore(folder, bootName(boot)));
      for (let i = 0; i < 12; i += 1) {
        const store = stores[random(2)] as Store;
        const key = `box/k${random(5)}`;
        if (random(4) === 0) {
          await store.delete(key);
          expected.delete(key);
        } else {
          const value = `${losses} ${i} `.repeat(1 + random(random(10) === 0 ? 10_000 : 50));
          await store.put(key, text(value));
          expected.set(key, value);
        }
        if (random(10) === 0) await new WriteLog(folder, bootName(boot)).close();
      }
      loseUnsynced(folder, random);
      boot += 1;
      const after = await valuesIn(fileStore(folder, bootName(boot)));
      expect(after).toEqual(Object.fromEntries([...expected].sort()));
    }
  });

  it("several processes that start at once see the repaired store, each of them", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    const keys = Array.from({ length: 40 }, (_, i) => `box/k${i}`);
    await Promise.all(keys.map((key) => store.put(key, text(key))));
    rmSync(join(folder, "box"), { recursive: true });
    const seen = await Promise.all([1, 2, 3].map(() => valuesIn(fileStore(folder, AFTER))));
    for (const values of seen) expect(Object.keys(values)).toHaveLength(40);
  });
});

describe("a repair that a killed process has begun", () => {
  it("is finished by the next process", async () => {
    const folder = newFolder();
    await fileStore(folder, BEFORE).put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    renameSync(
      join(folder, ".log"),
      join(folder, `.log.${AFTER}.${nameOfOwn().replace(/\.\d+\.[0-9a-f]{8}\./, `.${pid}.01234567.`)}`),
    );
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: "one" });
    expect(readdirSync(folder).sort()).toEqual([".tmp", "a@"]);
  });

  it("is finished after the next restart, even where another process has its number now", async () => {
    const folder = newFolder();
    await fileStore(folder, BEFORE).put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    const claimant = nameOfOwn().replace(/\.\d+\.[0-9a-f]{8}\./, `.${process.ppid}.01234567.`);
    renameSync(join(folder, ".log"), join(folder, `.log.${AFTER}.${claimant}`));
    expect(await valuesIn(fileStore(folder, bootName(3)))).toEqual({ a: "one" });
    // A process of which nothing is known is waited for longer than this.
  }, 30_000);
});

describe("a write log", () => {
  it("holds the values of all writers that wait at once, with fewer syncs than values", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    const handle = await open(work);
    const calls = (["sync", "datasync"] as const).map((name) => vi.spyOn(Object.getPrototypeOf(handle), name));
    await handle.close();
    await Promise.all(Array.from({ length: 32 }, (_, i) => store.put(`k${i}`, text(String(i)))));
    expect(calls.flatMap(({ mock }) => mock.calls).length).toBeLessThan(32);
    expect(logsIn(folder, BEFORE)).toHaveLength(1);
    for (const { path } of keyFolders(folder)) rmSync(path, { recursive: true });
    expect(await fileStore(folder, AFTER).keys("")).toHaveLength(32);
  });

  it("is gone after it was closed, and values are as they were", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await new WriteLog(folder, BEFORE).close();
    expect(readdirSync(join(folder, ".log"))).toEqual([]);
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("that another process closes in the middle: what is written after it is in a new one before it is acknowledged", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await new WriteLog(folder, BEFORE).close();
    await store.put("a", text("two"));
    await store.delete("a");
    await store.put("b", text("three"));
    for (const { path } of keyFolders(folder)) rmSync(path, { recursive: true });
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ b: "three" });
  });

  it("that another process closes while it is made is made again, and the write is answered", async () => {
    const folder = newFolder();
    const store = fileStore(folder, BEFORE);
    await duringNextSync("sync", () => new WriteLog(folder, BEFORE).close());
    await store.put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("stays with its process where other files lie beside it", async () => {
    const folder = newFolder();
    await fileStore(folder, BEFORE).put("a", text("one"));
    writeFileSync(join(folder, ".log", ".DS_Store"), "");
    mkdirSync(join(folder, ".log", BEFORE, "@eaDir"));
    expect(await valuesIn(fileStore(folder, BEFORE))).toEqual({ a: "one" });
    expect(logsIn(folder, BEFORE)).toHaveLength(2);
    rmSync(join(folder, "a@"), { recursive: true });
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("is removed after the value in a head is synced, even where the head is renamed meanwhile", async () => {
    const folder = newFolder();
    await fileStore(folder, BEFORE).put("a", text("one"));
    const place = join(folder, "a@");
    const head = join(place, `head.${versionOf(folder, "a")}`);
    // One of them is synced before the head, and then the head is renamed.
    for (let i = 0; i < 20; i += 1) writeFileSync(join(place, `0-${i}`), "");
    const { ino } = statSync(head);
    const synced: number[] = [];
    const handle = await open(work);
    const call = vi.spyOn(Object.getPrototypeOf(handle), "sync");
    await handle.close();
    call.mockImplementation(async function (this: typeof handle) {
      synced.push((await this.stat()).ino);
      if (existsSync(head)) renameSync(head, join(place, "head.2-0123456789abcdef-00000000"));
    });
    await new WriteLog(folder, BEFORE).close();
    expect(synced).toContain(ino);
    expect(readdirSync(join(folder, ".log"))).toEqual([]);
  });

  it("left by processes that have ended is closed when there are more than twenty", async () => {
    const folder = newFolder();
    for (let i = 0; i < 25; i += 1) await fileStore(folder, BEFORE).put(`k${i}`, text(String(i)));
    await expect.poll(() => logsIn(folder, BEFORE).length).toBeLessThan(20);
    expect(await fileStore(folder, BEFORE).keys("")).toHaveLength(25);
  });

  it("is not needed where the system does not name its starts, and a log that is there is used up", async () => {
    const folder = newFolder();
    await fileStore(folder, BEFORE).put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    const store = fileStore(folder, null);
    expect(await valuesIn(store)).toEqual({ a: "one" });
    await store.put("b", text("two"));
    expect(readdirSync(folder).sort()).toEqual([".tmp", "a@", "b@"]);
    expect(await valuesIn(fileStore(folder, AFTER))).toEqual({ a: "one", b: "two" });
  });
});

/** Does something between two steps of a store: in the midst of the next sync of a file. */
async function duringNextSync(name: "sync" | "datasync", action: () => Promise<void>): Promise<void> {
  const handle = await open(work);
  const call = vi.spyOn(Object.getPrototypeOf(handle), name);
  await handle.close();
  call.mockImplementationOnce(action);
}

function bootName(number: number): string {
  return `${String(number).padStart(8, "0")}-0000-0000-0000-000000000000`;
}

function logsIn(folder: string, boot: string): string[] {
  const logs = join(folder, ".log", boot);
  return existsSync(logs) ? readdirSync(logs).map((name) => join(logs, name)) : [];
}

function versionOf(folder: string, key: string): string {
  const head = readdirSync(join(folder, `${key}@`)).find((name) => name.startsWith("head."));
  return head?.slice("head.".length) ?? "";
}

/** Undoes at random what was not synced: the files and folders of the keys that stand in a log. */
function loseUnsynced(folder: string, random: (below: number) => number): void {
  const logs = readdirSync(join(folder, ".log")).flatMap((name) => logsIn(folder, name));
  const logged = logs.map((log) => readFileSync(log, "latin1")).join("");
  for (const { path, files } of keyFolders(folder)) {
    const key = path.slice(folder.length + 1, -1);
    // Large values are synced by themselves.
    const isLarge = files.some((file) => statSync(join(path, file)).size > 16 * 1024 + 100);
    if (isLarge || !logged.includes(`"key":"${key}"`)) continue;
    if (random(3) === 0) rmSync(path, { recursive: true });
    else
      for (const file of files) {
        if (random(2) === 0) truncateSync(join(path, file), random(statSync(join(path, file)).size + 1));
        else if (random(3) === 0) rmSync(join(path, file));
      }
  }
}
