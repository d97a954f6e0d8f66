// test/helpers/go.ts: builds Go programs for tests, from their go.mod and go.sum.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** `go` in the PATH, and at the path of its installer. */
const PLACES = ["go", "/usr/local/go/bin/go"];

/** @returns `null` if Go is not installed */
export async function findGo(): Promise<string | null> {
  for (const place of PLACES) {
    const isThere = await run(place, ["version"]).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return null;
}

/** Builds a package of the module in a folder into a file, without writing into the folder. */
export async function buildGo(
  go: string,
  folder: string,
  { name, file, signal }: { name: string; file: string; signal?: AbortSignal | undefined },
): Promise<void> {
  // Ignores the user's settings, and does not run git.
  const env = { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off" };
  // Without symbols for debuggers, which are slow to link.
  const flags = ["-buildvcs=false", "-trimpath", "-ldflags=-s -w"];
  await run(go, ["build", ...flags, "-o", file, name], { cwd: folder, env, signal });
}
