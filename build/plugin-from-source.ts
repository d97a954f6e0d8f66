// build/plugin-from-source.ts: the plugin from source, for this repository's own sites.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { definePlugin } from "../plugin/plugin.js";

const scripts = new Map<string, Promise<string>>();

export const twtxt = definePlugin(() => ({
  now: Date.now,
  root: process.cwd(),
  environment: process.env,
  readScript,
}));

/** Bundles a script of plugin/browser/ once per process. */
export function readScript(name: string): Promise<string> {
  const script = scripts.get(name) ?? bundle(name);
  scripts.set(name, script);
  return script;
}

async function bundle(name: string): Promise<string> {
  const entry = fileURLToPath(new URL(`../plugin/browser/${name}.ts`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
  return outputFiles.map(({ text }) => text).join("");
}
