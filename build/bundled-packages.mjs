// build/bundled-packages.mjs [FOLDER]: bundles imported packages that are not dependencies in package.json into dist/ or
// another folder of compiled files.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
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
  plugins: [{ name: "keep-own-files", setup: keepOwnFiles }],
  metafile: true,
  logLevel: "warning",
};

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
});
await writeLicenses(join(dist, "LICENSES.txt"), metafile);

/** The files that import a package that is not installed with this one. */
async function importersOfBundled(entryPoints) {
  const { metafile } = await build({ ...options, entryPoints, packages: "external", write: false });
  const isInstalled = (path) => installed.some((name) => path === name || path.startsWith(`${name}/`));
  const isBundled = ({ path }) => !/^(?:\.|node:)/.test(path) && !isInstalled(path);
  return Object.keys(metafile.inputs).filter((file) => metafile.inputs[file].imports.some(isBundled));
}

/** Keeps the imports between the files of dist/. */
function keepOwnFiles({ onResolve }) {
  onResolve({ filter: /^\./ }, ({ path, importer }) =>
    importer.startsWith(dist) ? { path, external: true } : undefined,
  );
}
