import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { afterMounts, mountLack } from "../helpers/mounts.js";
import { COMPILED } from "../helpers/paths.js";

const disk = mkdtempSync(join(tmpdir(), "twtxt-disk-"));
const child = join(COMPILED, "full-disk-child.mjs");

beforeAll(async () => {
  const entry = fileURLToPath(new URL("full-disk-child.ts", import.meta.url));
  await build({ entryPoints: [entry], outfile: child, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => rmSync(disk, { recursive: true, force: true }));

describe.skipIf(mountLack !== null)("a store on a full disk", () => {
  it("refuses new values, keeps the others, deletes as many as wanted, and stores again when there is space", () => {
    const [program = "", ...words] = afterMounts('mount -t tmpfs -o size=20m tmpfs "$1"', disk);
    const printed = execFileSync(program, [...words, process.execPath, child, disk], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual({
      "new value": "store-failed ENOSPC",
      "large value": "store-failed ENOSPC",
      "check of writes": "store-failed ENOSPC",
      "stored value": "same",
      "shorter value": "done",
      mark: "done",
      "500 deletions": "done",
      "deletion of a file": "done",
      "value once there is space": "done",
      "reserve of more space than there is": "ENOSPC",
      left: ["large", "new", "replaced", "deleted-mark"].sort(),
    });
  });
});
