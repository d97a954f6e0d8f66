// test/client/files-below.ts: reads all files in a folder.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The contents of all files below a folder, as text. */
export function textsIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
}
