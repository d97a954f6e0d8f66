// test/helpers/compile.ts: compiles the plugin once for a run of tests, so that processes start without a TypeScript loader.
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import type { TestProject } from "vitest/node";
import { COMMAND, COMPILED, REPO } from "./paths.js";

const sources = join(REPO, "plugin");

/** Called by Vitest before the first test, and again before a run in watch mode. */
export default async function setup(project: TestProject): Promise<void> {
  await compile();
  project.onTestsRerun(compile);
}

async function compile(): Promise<void> {
  const files = await readdir(sources, { recursive: true });
  const modules = files.filter((file) => file.endsWith(".ts") && !/^(?:cli|client|browser)\//.test(file));
  const options = { format: "esm", platform: "node", target: "node20", logLevel: "warning" } as const;
  await build({
    ...options,
    entryPoints: modules.map((file) => join(sources, file)),
    outdir: COMPILED,
    outbase: sources,
  });
  // Bundled with its packages, because hundreds of processes load it.
  await build({
    ...options,
    entryPoints: [join(sources, "cli/main.ts")],
    outdir: dirname(COMMAND),
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    external: ["@napi-rs/keyring"],
    // As in the package: a dynamic import of a CommonJS module has only a default export.
    mainFields: ["module", "main"],
    banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' },
  });
  await promisify(execFile)(process.execPath, [join(REPO, "build/browser-scripts.mjs"), join(COMPILED, "browser")]);
}
