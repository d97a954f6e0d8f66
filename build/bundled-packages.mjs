// build/bundled-packages.mjs [FOLDER]: bundles imported packages that are not dependencies in package.json into dist/ or
// another folder of compiled files, and the modules of the main entry into one file.
import { readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { writeLicenses } from "./licenses.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const dist = process.argv[2] ?? join(root, "dist");
const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
const options = {
  absWorkingDir: root,
  outdir: dist,
  outbase: dist,
  allowOverwrite: true,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // ES modules first, because a dynamic import of a CommonJS module has only a default export.
  mainFields: ["module", "main"],
  metafile: true,
  logLevel: "warning",
};

/** The files that users import or run, and the file that `plugin.ts` loads with `require`. */
const ENTRIES = ["index.js", "messages/index.js", "messages/browser.js", "cli/main.js", "text/text-from-html.js"];

const compiled = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith(".js"));
const { metafile } = await build({
  ...options,
  entryPoints: await importersOfBundled(compiled.map((file) => join(dist, file))),
  chunkNames: "chunks/[name]-[hash]",
  splitting: true,
  minify: true,
  keepNames: true,
  legalComments: "none",
  external: installed,
  plugins: [
    { name: "keep-own-files", setup: keepOwnFiles },
    { name: "load-node-modules", setup: loadNodeModules },
  ],
});
await writeLicenses(join(dist, "LICENSES.txt"), metafile);
await bundleEntry("index.js");
await bundleEntry("http/build-network.js");
await removeUnused();

/** The files that import a package that is not a dependency of this one. */
async function importersOfBundled(entryPoints) {
  const plugins = [{ name: "keep-own-files", setup: keepOwnFiles }];
  const { metafile } = await build({ ...options, entryPoints, packages: "external", write: false, plugins });
  const isInstalled = (path) => installed.some((name) => path === name || path.startsWith(`${name}/`));
  const isBundled = ({ path }) => !/^(?:\.|node:)/.test(path) && !isInstalled(path);
  return Object.keys(metafile.inputs).filter((file) => metafile.inputs[file].imports.some(isBundled));
}

/** Leaves the imports between files of dist/ unchanged. */
function keepOwnFiles({ onResolve }) {
  onResolve({ filter: /^\./ }, ({ path, importer }) =>
    importer.startsWith(dist) ? { path, external: true } : undefined,
  );
}

/** Defines `require` for CommonJS packages that load modules of Node.js, because ES modules have none. */
function loadNodeModules({ onResolve, onLoad }) {
  const namespace = "node-module";
  onResolve({ filter: /^node:/ }, ({ kind, path }) => (kind === "require-call" ? { path, namespace } : undefined));
  onLoad({ filter: /^/, namespace }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule("${path}");`,
  }));
}

/**
 * Bundles a file that builds load with its static imports, because each module costs a build up to 2 ms of CPU: before Node.js
 * 22.15, Eleventy's module hooks run in another thread. The error class stays a separate module, which the other entries
 * share.
 */
async function bundleEntry(entry) {
  await build({
    ...options,
    entryPoints: [join(dist, entry)],
    packages: "external",
    plugins: [{ name: "keep-later-imports", setup: (build) => keepLaterImports(build, dirname(join(dist, entry))) }],
  });
}

/** @param folder - the folder of the bundle */
function keepLaterImports({ onResolve }, folder) {
  onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) => {
    const file = join(resolveDir, path);
    const isKept = kind === "dynamic-import" || file === join(dist, "errors.js");
    return isKept ? { path: relative(folder, file).replace(/^(?!\.)/, "./"), external: true } : undefined;
  });
}

/** Removes the compiled files that no entry imports. */
async function removeUnused() {
  const entryPoints = ENTRIES.map((file) => join(dist, file));
  const { metafile } = await build({ ...options, entryPoints, packages: "external", write: false });
  const used = new Set(Object.keys(metafile.inputs).map((file) => join(root, file)));
  const unused = compiled.map((file) => join(dist, file)).filter((file) => !used.has(file));
  await Promise.all(unused.map((file) => rm(file)));
}
