// plugin/cli/version.ts: the version of this package.
import { readFileSync } from "node:fs";

/** As `package.json` has it. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String(Object(manifest).version);
}
