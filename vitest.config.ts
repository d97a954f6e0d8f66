import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { compiledPlugin } from "./test/helpers/compiled-plugin.js";
import { TIME_LIMITS } from "./test/helpers/longest.js";
import { reportersFor } from "./test/helpers/reporters.js";
import { V8_OPTIONS } from "./test/helpers/v8-options.js";

/**
 * The first files, in this order. Those that run git or start servers often come first: a fork copies the page tables of
 * the process, which costs a new worker half as much as one that has run many files. The others take longest, and would
 * keep one processor busy alone if they came last. Those of stores move many MiB, and garbage collection costs less before
 * a worker has imported much. Others wait.
 */
const FIRST = [
  "client/write",
  "author/notes/publish",
  "client/write-pictures",
  "cli/post-publish",
  "store/sqlite",
  "cli/serve-blobs-killed",
  "cli/serve-blobs",
  "cli/serve",
  "cli/send",
  "store/netlify",
  "store/s3",
  "eleventy/watch",
  "browser/twtxt-contact",
  "client/write-pictures-browser",
  "client/messages",
  "cli/doctor",
  "browser/twtxt-comments",
  "cli/serve-disk",
  "store/full-disk",
];

/** Vitest's own order, by size or by the time that a file took before, but for the first ones. */
class FirstOnes extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = FIRST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return found === -1 ? FIRST.length : found;
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  plugins: [compiledPlugin],
  test: {
    include: ["test/**/*.test.ts", "test/**/*.test.tsx"],
    // Whole stories in a browser, behind proxies and from the packed package: `npm run test:e2e`.
    exclude: [...configDefaults.exclude, "test/e2e/**", "test/hosting/**"],
    globalSetup: ["test/helpers/temporary-folder.ts", "test/helpers/compile.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    pool: "forks",
    // A worker imports the plugin and its packages once, for all the files that it runs.
    isolate: false,
    execArgv: V8_OPTIONS,
    // Two more than there are processors, since many files wait: for children, disks and timeouts.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: FirstOnes },
    // So long that they end only what hangs, however busy the machine is.
    ...TIME_LIMITS,
    reporters: reportersFor("tests"),
  },
});
