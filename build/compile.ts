// build/compile.ts: compiles the plugin with its command in a few seconds, so that processes start without a TypeScript loader.
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type BuildOptions, build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));
const sources = join(root, "plugin");

/** @param folder - as deep as plugin/, because some modules use paths relative to their own */
export async function compile(folder: string): Promise<void> {
  const files = await readdir(sources, { recursive: true });
  const modules = files.filter((file) => /\.tsx?$/.test(file) && !/^browser\/|^cli\/main\.ts$/.test(file));
  const options = { format: "esm", platform: "node", target: "node20", logLevel: "warning" } as const;
  await writeBuild({
    ...options,
    sourcemap: "inline",
    sourcesContent: false,
    entryPoints: modules.map((file) => join(sources, file)),
    outdir: folder,
    outbase: sources,
  });
  // Bundled with its packages, because hundreds of processes load it.
  await writeBuild({
    ...options,
    entryPoints: [join(sources, "cli/main.ts")],
    outdir: join(folder, "cli"),
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    external: ["@napi-rs/keyring"],
    // As in the package: a dynamic import of a CommonJS module has only a default export.
    mainFields: ["module", "main"],
    banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' },
  });
  await promisify(execFile)(process.execPath, [join(root, "build/browser-scripts.mjs"), join(folder, "browser")]);
}

/** Leaves files as they are whose contents do not change: other processes may be loading them. */
async function writeBuild(options: BuildOptions): Promise<void> {
  const { outputFiles = [] } = await build({ ...options, write: false });
  for (const { path, contents } of outputFiles) {
    const before = await readFile(path).catch(() => null);
    if (before?.equals(contents)) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, contents);
  }
}
