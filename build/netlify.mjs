// build/netlify.mjs: makes dist/netlify/ of netlify/functions/: one small file for each function, beside the chunks they share.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = process.argv[2] ?? join(root, "dist/netlify");

/** What undici loads and we never run into: HTTP/2, bodies of its own `fetch`, and a parser for processors without SIMD. */
const UNUSED = /\/(dispatcher\/client-h2|web\/fetch\/body|llhttp\/llhttp-wasm)\.js$/;

/** The whole of undici takes longer to load than all the rest together. */
const littleUndici = {
  name: "little-undici",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: join(root, "build/undici.mjs") }));
    onLoad({ filter: UNUSED }, ({ path }) =>
      path.includes("/node_modules/undici/lib/") ? { contents: "module.exports = {};" } : undefined,
    );
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
  minify: true,
  // For whoever reads a stack trace in the log of a function.
  keepNames: true,
  legalComments: "none",
  banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
  plugins: [littleUndici],
  metafile: true,
  logLevel: "warning",
});
await writeFile(join(folder, "LICENSES.txt"), await licensesOf(Object.keys(metafile.inputs)));

/** The licences of the packages that these files belong to. */
async function licensesOf(files) {
  const packages = files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const texts = [...new Set(packages)].filter(Boolean).sort().map(licenseOf);
  return (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
}

async function licenseOf(path) {
  const { name, version, license } = JSON.parse(await readFile(join(root, path, "package.json"), "utf8"));
  const file = (await readdir(join(root, path))).find((name) => /^(licen[cs]e|copying)/i.test(name));
  const text = file ? await readFile(join(root, path, file), "utf8") : "";
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}
