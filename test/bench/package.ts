// test/bench/package.ts: the built package in its own folder, so that no other process recompiles it during a run.
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runNode } from "./child.js";

const repo = fileURLToPath(new URL("../../", import.meta.url));

export const nodeModules = join(repo, "node_modules");

/**
 * Compiles the package's scripts and bundles packages into them, as they are published. Does not check types.
 *
 * @param folder - is created
 * @returns the URL of its main entry, `dist/index.js`
 */
export async function compilePackage(folder: string, stop: AbortSignal): Promise<string> {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(repo, "package.json"), join(folder, "package.json"));
  symlinkSync(nodeModules, join(folder, "node_modules"));
  const dist = join(folder, "dist");
  const scriptsAlone = ["--noCheck", "--declaration", "false", "--outDir", dist];
  await runNode([join(nodeModules, "typescript/bin/tsc"), "-p", "tsconfig.build.json", ...scriptsAlone], {
    cwd: repo,
    stop,
  });
  await runNode([join(repo, "build/bundled-packages.mjs"), dist], { cwd: repo, stop });
  await runNode([join(repo, "build/browser-scripts.mjs"), join(dist, "browser")], { cwd: repo, stop });
  return pathToFileURL(join(dist, "index.js")).href;
}
