// build/browser-scripts.mjs [FOLDER]: bundles the scripts of plugin/browser/ into dist/browser/ or another folder.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));

await build({
  entryPoints: [join(root, "plugin/browser/twtxt-mentions.ts")],
  outdir: process.argv[2] ?? join(root, "dist/browser"),
  bundle: true,
  minify: true,
  format: "esm",
  logLevel: "warning",
});
