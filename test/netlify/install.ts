// test/netlify/install.ts: installs Netlify's command line if it is missing, and packs the package.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NETLIFY, PACKED } from "./local-netlify.js";

const here = fileURLToPath(new URL(".", import.meta.url));

export function setup(): void {
  if (!existsSync(NETLIFY)) {
    console.log("Installing Netlify's command line, 418 MB, into test/netlify/node_modules …");
    execFileSync("npm", ["ci", "--prefix", here], { stdio: "inherit" });
  }
  const folder = dirname(PACKED);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]);
  const [{ filename }] = JSON.parse(String(packed));
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", folder]);
}
