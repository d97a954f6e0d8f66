// test/store/restarts.ts: helpers for stores on a restarted machine, and for their files.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import type { Store } from "../../plugin/store/store.js";
import { afterAll, afterEach } from "../helpers/hooks.js";

const folders: string[] = [];
export const text = (value: string) => Buffer.from(value);
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Boot IDs before and after a restart. */
export const [BEFORE, AFTER] = ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"];

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-power-"));
  folders.push(folder);
  return join(folder, "store");
}

/** The prototype of open files, for spies on its methods. */
export async function fileMethods(): Promise<FileHandle> {
  const handle = await open(tmpdir());
  await handle.close();
  return Object.getPrototypeOf(handle);
}

export async function valuesIn(store: Store): Promise<Record<string, string>> {
  const keys = (await store.keys("")).sort();
  const values = await Promise.all(keys.map(async (key) => [key, (await store.get(key))?.bytes.toString()]));
  return Object.fromEntries(values.map(([key, value]) => [key, String(value)]));
}

/** The folder of each key, and the files in it. */
export function keyFolders(folder: string): { path: string; files: string[] }[] {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const folders = all.filter((path) => path.endsWith("@") && !path.startsWith("."));
  return folders.map((path) => ({ path: join(folder, path), files: readdirSync(join(folder, path)) }));
}

/** Runs an action in place of the next sync of a file, so between two steps of a store. */
export async function duringNextSync(name: "sync" | "datasync", action: () => Promise<void>): Promise<void> {
  vi.spyOn(await fileMethods(), name).mockImplementationOnce(action);
}

export function bootName(number: number): string {
  return `${String(number).padStart(8, "0")}-0000-0000-0000-000000000000`;
}

export function logsIn(folder: string, boot: string): string[] {
  const logs = join(folder, ".log", boot);
  return existsSync(logs) ? readdirSync(logs).map((name) => join(logs, name)) : [];
}

export function versionOf(folder: string, key: string): string {
  const head = readdirSync(join(folder, `${key}@`)).find((name) => name.startsWith("head."));
  return head?.slice("head.".length) ?? "";
}
