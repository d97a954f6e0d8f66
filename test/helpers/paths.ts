// test/helpers/paths.ts: paths that tests give to the processes they start.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project. */
export const REPO = fileURLToPath(new URL("../../", import.meta.url));

/** The compiled plugin, written by compile.ts. It is as deep as plugin/, because some modules use paths relative to their own. */
export const COMPILED = join(REPO, ".test-build");

/** The command `eleventy-twtxt`. */
export const COMMAND = join(COMPILED, "cli/main.js");

/** For `node --import`: lets the process connect only to this machine. */
export const LOOPBACK_ONLY = join(REPO, "test/helpers/loopback-only.mjs");

/** For `node --import`: a process that listens on a port can load no further files of modules. */
export const NO_LATE_MODULES = join(REPO, "test/helpers/no-late-modules.mjs");
