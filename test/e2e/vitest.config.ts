import { defineConfig } from "vitest/config";
import { TIME_LIMITS } from "../helpers/longest.js";
import { reportersFor } from "../helpers/reporters.js";

/** Separate from the other tests, because packing and installing the package with npm is slow and needs the registry. */
export default defineConfig({
  test: {
    include: ["test/e2e/*.spec.ts"],
    setupFiles: ["test/helpers/setup.ts"],
    ...TIME_LIMITS,
    reporters: reportersFor("package"),
  },
});
