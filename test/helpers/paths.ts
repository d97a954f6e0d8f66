// test/helpers/paths.ts: paths that tests give to the processes they start.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project. */
export const REPO = fileURLToPath(new URL("../../", import.meta.url));

/** The compiled plugin, written by compile.ts. It is as deep as plugin/, because some modules find files relative to themselves. */
export const COMPILED = join(REPO, ".test-build");

/** The command `eleventy-twtxt`. */
export const COMMAND = join(COMPILED, "cli/main.js");

/** For `node --import`: the process connects to this machine alone. */
export const LOOPBACK_ONLY = join(REPO, "test/helpers/loopback-only.mjs");
