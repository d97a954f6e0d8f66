// build/plugin-from-source.ts: the plugin from source, for this repository's own sites.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import manifest from "../package.json" with { type: "json" };
import { definePlugin } from "../plugin/plugin.js";
import * as htmlReader from "../plugin/text/text-from-html.js";

const assets = new Map<string, Promise<string>>();

export const twtxt = definePlugin(() => ({
  now: Date.now,
  root: process.cwd(),
  environment: process.env,
  packageFolder: fileURLToPath(new URL("../", import.meta.url)),
  htmlReader: () => htmlReader,
  readAsset,
  version: manifest.version,
}));

/** Bundles a script or stylesheet of plugin/browser/ once per process. */
export function readAsset(file: string): Promise<string> {
  const asset = assets.get(file) ?? bundle(file);
  assets.set(file, asset);
  return asset;
}

async function bundle(file: string): Promise<string> {
  const entry = fileURLToPath(new URL(`../plugin/browser/${file.replace(/\.js$/, ".ts")}`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
  return outputFiles.map(({ text }) => text).join("");
}
