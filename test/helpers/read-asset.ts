// test/helpers/read-asset.ts: the scripts and stylesheets of plugin/browser/ as they are in the package.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { COMPILED } from "./paths.js";

export function readAsset(file: string): Promise<string> {
  return readFile(join(COMPILED, "browser", file), "utf8");
}
