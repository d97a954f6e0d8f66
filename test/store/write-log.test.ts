import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { FileStore } from "../../plugin/store/file.js";
import { WriteLog } from "../../plugin/store/write-log.js";
import {
  AFTER,
  BEFORE,
  duringNextSync,
  fileMethods,
  keyFolders,
  logsIn,
  newFolder,
  text,
  valuesIn,
  versionOf,
} from "./restarts.js";

describe("a write log", () => {
  it("stores the values of all waiting writers with fewer syncs than values", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    const methods = await fileMethods();
    const calls = (["sync", "datasync"] as const).map((name) => vi.spyOn(methods, name));
    await Promise.all(Array.from({ length: 32 }, (_, i) => store.put(`k${i}`, text(String(i)))));
    expect(calls.flatMap(({ mock }) => mock.calls).length).toBeLessThan(32);
    expect(logsIn(folder, BEFORE)).toHaveLength(1);
    for (const { path } of keyFolders(folder)) rmSync(path, { recursive: true });
    expect(await new FileStore(folder, AFTER).keys("")).toHaveLength(32);
  });

  it("is removed after it is closed, and the values stay", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await new WriteLog(folder, BEFORE).close();
    expect(readdirSync(join(folder, ".log"))).toEqual([]);
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("that another process closes is replaced, and the new log has later values before they are acknowledged", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    await store.put("a", text("one"));
    await new WriteLog(folder, BEFORE).close();
    await store.put("a", text("two"));
    await store.delete("a");
    await store.put("b", text("three"));
    for (const { path } of keyFolders(folder)) rmSync(path, { recursive: true });
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ b: "three" });
  });

  it("that another process closes while it is created is created again", async () => {
    const folder = newFolder();
    const store = new FileStore(folder, BEFORE);
    await duringNextSync("sync", () => new WriteLog(folder, BEFORE).close());
    await store.put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("ignores other files in its folder", async () => {
    const folder = newFolder();
    await new FileStore(folder, BEFORE).put("a", text("one"));
    writeFileSync(join(folder, ".log", ".DS_Store"), "");
    mkdirSync(join(folder, ".log", BEFORE, "@eaDir"));
    expect(await valuesIn(new FileStore(folder, BEFORE))).toEqual({ a: "one" });
    expect(logsIn(folder, BEFORE)).toHaveLength(2);
    rmSync(join(folder, "a@"), { recursive: true });
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "one" });
  });

  it("is removed after the value in a head is synced, even if the head is renamed meanwhile", async () => {
    const folder = newFolder();
    await new FileStore(folder, BEFORE).put("a", text("one"));
    const place = join(folder, "a@");
    const head = join(place, `head.${versionOf(folder, "a")}`);
    // At least one of these files is synced before the head; then the head is renamed.
    for (let i = 0; i < 20; i += 1) writeFileSync(join(place, `0-${i}`), "");
    const { ino } = statSync(head);
    const synced: number[] = [];
    const call = vi.spyOn(await fileMethods(), "sync");
    call.mockImplementation(async function (this: FileHandle) {
      synced.push((await this.stat()).ino);
      if (existsSync(head)) renameSync(head, join(place, "head.2-0123456789abcdef-00000000"));
    });
    await new WriteLog(folder, BEFORE).close();
    expect(synced).toContain(ino);
    expect(readdirSync(join(folder, ".log"))).toEqual([]);
  });

  it("of an ended process is closed when there are more than twenty", async () => {
    const folder = newFolder();
    for (let i = 0; i < 25; i += 1) await new FileStore(folder, BEFORE).put(`k${i}`, text(String(i)));
    await expect.poll(() => logsIn(folder, BEFORE).length).toBeLessThan(20);
    expect(await new FileStore(folder, BEFORE).keys("")).toHaveLength(25);
  });

  it("is not written without a boot ID, and an existing one is applied", async () => {
    const folder = newFolder();
    await new FileStore(folder, BEFORE).put("a", text("one"));
    rmSync(join(folder, "a@"), { recursive: true });
    const store = new FileStore(folder, null);
    expect(await valuesIn(store)).toEqual({ a: "one" });
    await store.put("b", text("two"));
    expect(readdirSync(folder).sort()).toEqual([".tmp", "a@", "b@"]);
    expect(await valuesIn(new FileStore(folder, AFTER))).toEqual({ a: "one", b: "two" });
  });
});
