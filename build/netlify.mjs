// build/netlify.mjs: bundles netlify/functions/ into dist/netlify/: one small file per function, and shared chunks.
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { writeLicenses } from "./licenses.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = process.argv[2] ?? join(root, "dist/netlify");

/** Unused modules of undici: HTTP/2, the bodies of its `fetch`, and a parser for processors without SIMD. */
const UNUSED = /\/(dispatcher\/client-h2|web\/fetch\/body|llhttp\/llhttp-wasm)\.js$/;

/** Bundles only the used part of undici, because loading the whole would take longer than loading everything else. */
const smallUndici = {
  name: "small-undici",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: join(root, "build/undici.mjs") }));
    onLoad({ filter: UNUSED }, ({ path }) =>
      path.includes("/node_modules/undici/lib/") ? { contents: "module.exports = {};" } : undefined,
    );
  },
};

/** Bundles only the two values of package.json that the functions use. */
const smallManifest = {
  name: "small-manifest",
  setup({ onLoad }) {
    onLoad({ filter: /package\.json$/ }, async ({ path }) => {
      if (path !== join(root, "package.json")) return undefined;
      const { name, version } = JSON.parse(await readFile(path, "utf8"));
      return { contents: JSON.stringify({ name, version }), loader: "json" };
    });
  },
};

await rm(folder, { recursive: true, force: true });
const functions = await readdir(join(root, "netlify/functions"));
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: functions.map((file) => `netlify/functions/${file}`),
  outdir: folder,
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // ES modules first, because a dynamic import of a CommonJS module has only a default export.
  mainFields: ["module", "main"],
  minify: true,
  // For stack traces in the logs of functions.
  keepNames: true,
  legalComments: "none",
  banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
  plugins: [smallUndici, smallManifest],
  metafile: true,
  logLevel: "warning",
});
await writeLicenses(join(folder, "LICENSES.txt"), metafile);
