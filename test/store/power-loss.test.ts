import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FileStore } from "../../plugin/store/file.js";
import { uniqueName } from "../../plugin/store/processes.js";
import type { Store } from "../../plugin/store/store.js";
import { entriesIn, WriteLog } from "../../plugin/store/write-log.js";
import { seededRandom } from "../cli/blob-writers.js";
import {
  AFTER,
  BEFORE,
  bootName,
  duringNextSync,
  keyFolders,
  logsIn,
  newFolder,
  text,
  valuesIn,
  versionOf,
} from "./restarts.js";

describe("after a power loss", () => {
  it("a value is complete although its file was not written", async () => {
    const folder = newFolder();
    const etag = await new FileStore(folder, BEFORE).put("a/b/c", text("one"));
    rmSync(join(folder, "a"), { recursive: true });
    const store = new FileStore(folder, AFTER);
    expect(await store.get("a/b/c")).toEqual({ bytes: text("one"), etag });
    expect(readdirSync(folder).sort()).toEqual([".tmp", "a"]);
  });

  it.each(["emptied", "truncated"])("a value whose file is %s is complete", async (how) => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    await store.put("new", text("the first value"));
    await store.put("replaced", text("the first value"));
    await store.put("replaced", text("the second value"));
    for (const { path, files } of keyFolders(folder)) {
      for (const file of files) {
        const { size } = statSync(join(path, file));
        truncateSync(join(path, file), how === "emptied" ? 0 : size >> 1);
      }
    }
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({
      new: "the first value",
      replaced: "the second value",
    });
  });

  it("a deleted key stays deleted, and a key that was created again has its later value", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    for (const key of ["gone", "again"]) await store.put(key, text("old"));
    const copy = `${folder}.copy`;
    cpSync(folder, copy, { recursive: true });
    for (const key of ["gone", "again"]) await store.delete(key);
    await store.put("again", text("new"));
    cpSync(join(folder, ".log"), join(copy, ".log"), { recursive: true });
    expect(await valuesIn(new FileStore(copy, AFTER))).toEqual({ again: "new" });
  });

  it("a value too large for the log that replaced a small one is complete", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    const large = "large ".repeat(10_000);
    await store.put("a", text("small"));
    await store.put("a", text(large));
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: large });
  });

  it("an incomplete value that was never acknowledged is replaced by the previous one, or by none", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
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
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ replaced: "one" });
    expect(existsSync(join(folder, "new@"))).toBe(false);
    expect(existsSync(join(folder, "empty@"))).toBe(false);
  });

  it("a key that was deleted twice stays deleted, even if the process of the first deletion was killed before it wrote its entry", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    await store.put("a", text("one"));
    renameSync(join(folder, "a@"), join(folder, ".tmp", uniqueName()));
    await store.put("a", text("two"));
    await store.delete("a");
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({});
  });

  it("a key stays deleted if its value is logged after the log of its deletion was removed", async () => {
    const folder = newFolder();
    const [one, other] = [new FileStore(folder, BEFORE), new FileStore(folder, BEFORE)];
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
    // The power loss can come between the two entries.
    const entries = await entriesIn(join(folder, ".log", BEFORE));
    expect(entries.filter(({ key }) => key === "a").map(({ change }) => change)).toEqual(["deleted", "value"]);
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ first: "one", second: "one" });
  });

  it("an unreadable file stays, and the store fails", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await store.put("a", text("two"));
    await new WriteLog(folder, BEFORE).close();
    const file = join(folder, "a@", versionOf(folder, "a"));
    rmSync(file);
    symlinkSync(file, file);
    mkdirSync(join(folder, ".log", BEFORE));
    await expect(new FileStore(folder, AFTER).keys("")).rejects.toThrow(
      expect.objectContaining({ code: "store-failed" }),
    );
    rmSync(file);
    writeFileSync(file, "two");
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "two" });
  });

  it.each(["one", "two"])(
    "the value %s, which becomes current again, stays in the folder of its key",
    async (value) => {
      const folder = newFolder();
      const store = new FileStore(folder, BEFORE);
      for (const each of value === "one" ? ["one"] : ["one", "two"]) await store.put("a", text(each));
      await new WriteLog(folder, BEFORE).close();
      const place = join(folder, "a@");
      const next = `${value === "one" ? 2 : 3}-0123456789abcdef-00000000`;
      renameSync(join(place, `head.${versionOf(folder, "a")}`), join(place, `head.${next}`));
      writeFileSync(join(place, next), "");
      mkdirSync(join(folder, ".log", BEFORE));
      const { ino } = statSync(place);
      const after = new FileStore(folder, AFTER);
      expect(await valuesIn(after)).toEqual({ a: value });
      expect(statSync(place).ino).toBe(ino);
      await after.put("a", text("next"));
      expect(await valuesIn(after)).toEqual({ a: "next" });
      expect(readdirSync(place)).toHaveLength(2);
    },
  );

  it("a truncated entry ends its log, and all entries before it are applied", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await store.put("b", text("two"));
    const [log = ""] = logsIn(folder, BEFORE);
    truncateSync(log, statSync(log).size - 1);
    for (const key of ["a", "b"]) rmSync(join(folder, `${key}@`), { recursive: true });
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("no acknowledged write of two writers is lost, whichever files were not written, in twelve power losses", async () => {
    const folder = newFolder();
    const random = seededRandom(1);
    let boot = 0;
    const expected = new Map<string, string>();
    for (let losses = 0; losses < 12; losses += 1) {
      const stores = [0, 1].map(() => new FileStore(folder, bootName(boot)));
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
      const after = await valuesIn(new FileStore(folder, bootName(boot)));
      expect(after).toEqual(Object.fromEntries([...expected].sort()));
    }
  });

  it("several processes that start at the same time all see the repaired store", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    const keys = Array.from({ length: 40 }, (_, i) => `box/k${i}`);
    await Promise.all(keys.map((key) => store.put(key, text(key))));
    rmSync(join(folder, "box"), { recursive: true });
    const seen = await Promise.all([1, 2, 3].map(() => valuesIn(new FileStore(folder, AFTER))));
    for (const values of seen) expect(Object.keys(values)).toHaveLength(40);
  });
});

describe("a store that another machine is writing", () => {
  it("is refused with a message, and the values of the other machine stay", async () => {
    const folder = newFolder();
    const other = new FileStore(folder, BEFORE);
    await other.put("a", text("one"));
    await duringNextSync("sync", async () => {
      await other.put("b", text("two"));
    });
    await expect(new FileStore(folder, AFTER).keys("")).rejects.toThrow(/^Another machine is writing to the store/);
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "one", b: "two" });
  });
});

describe("a repair by a killed process", () => {
  it("is finished by the next process", async () => {
    const folder = newFolder();
    await new FileStore(folder, BEFORE).put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    renameSync(
      join(folder, ".log"),
      join(folder, `.log.${AFTER}.${uniqueName().replace(/\.\d+\.[0-9a-f]{8}\./, `.${pid}.01234567.`)}`),
    );
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "one" });
    expect(readdirSync(folder).sort()).toEqual([".tmp", "a@"]);
  });

  it("is finished after the next restart, even if another process has its ID now", async () => {
    const folder = newFolder();
    await new FileStore(folder, BEFORE).put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    const claimant = uniqueName().replace(/\.\d+\.[0-9a-f]{8}\./, `.${process.ppid}.01234567.`);
    renameSync(join(folder, ".log"), join(folder, `.log.${AFTER}.${claimant}`));
    expect(await valuesIn(new FileStore(folder, bootName(3)))).toEqual({ a: "one" });
    // Recovery waits longer than this timeout for an unknown process.
  }, 30_000);
});

/** Randomly removes or truncates files that were not synced: those of the keys in the logs. */
function loseUnsynced(folder: string, random: (below: number) => number): void {
  const logs = readdirSync(join(folder, ".log")).flatMap((name) => logsIn(folder, name));
  const logged = logs.map((log) => readFileSync(log, "latin1")).join("");
  for (const { path, files } of keyFolders(folder)) {
    const key = path.slice(folder.length + 1, -1);
    // Large values are synced without the log.
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
