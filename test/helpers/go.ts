// test/helpers/go.ts: programs in Go that tests are run against, built as their go.mod and go.sum say.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where `go` is looked for: in the path, and where its own installer puts it. */
const PLACES = ["go", "/usr/local/go/bin/go"];

/** @returns `null` where this machine has no Go */
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

/** Builds a package of the module in a folder into a file; nothing is written into that folder. */
export async function buildGo(
  go: string,
  folder: string,
  { name, file, signal }: { name: string; file: string; signal?: AbortSignal | undefined },
): Promise<void> {
  // As go.mod and go.sum say, whatever the machine's own settings add; and git has no say in it.
  const env = { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off" };
  await run(go, ["build", "-buildvcs=false", "-trimpath", "-o", file, name], { cwd: folder, env, signal });
}
