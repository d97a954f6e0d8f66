// test/client/files-below.ts: what programs leave on the disk.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The bytes of all files below a folder, as text. */
export function textsIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
}
