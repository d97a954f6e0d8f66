// test/helpers/compiled-plugin.ts: tests import the compiled files of plugin/, which Node.js loads itself.
//
// Transforming them and running the result costs each worker more, and sites that a test builds load the same compiled files.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vitest/config";
import { COMPILED, REPO } from "./paths.js";

const SOURCES = join(REPO, "plugin/");

/** For the configurations of Vitest that run compile.ts. */
export const compiledPlugin: Plugin = {
  name: "compiled-plugin",
  enforce: "pre",
  config: () => ({ test: { server: { deps: { external: [/\/\.test-build\//] } } } }),
  resolveId(source, importer) {
    const file = source.startsWith(".") && importer !== undefined ? join(dirname(importer), source) : source;
    if (!file.startsWith(SOURCES)) return null;
    const compiled = join(COMPILED, file.slice(SOURCES.length).replace(/\.tsx?$/, ".js"));
    return existsSync(compiled) ? compiled : null;
  },
};
