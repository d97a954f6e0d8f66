// test/helpers/compile.ts: compiles the plugin once for a run of tests, so that processes start without a TypeScript loader.
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import type { TestProject } from "vitest/node";
import { COMPILED, REPO } from "./paths.js";

const sources = join(REPO, "plugin");

/** Called by Vitest before the first test, and again before a run in watch mode. */
export default async function setup(project: TestProject): Promise<void> {
  await compile();
  project.onTestsRerun(compile);
}

async function compile(): Promise<void> {
  const files = await readdir(sources, { recursive: true });
  await build({
    entryPoints: files.filter((file) => file.endsWith(".ts")).map((file) => join(sources, file)),
    outdir: COMPILED,
    outbase: sources,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
  });
  await cp(join(sources, "browser"), join(COMPILED, "browser"), { recursive: true });
}
