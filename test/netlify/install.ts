// test/netlify/install.ts: installs Netlify's command line if it is missing.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { NETLIFY } from "./local-netlify.js";

const here = fileURLToPath(new URL(".", import.meta.url));

export function setup(): void {
  if (existsSync(NETLIFY)) return;
  console.log("Installing Netlify's command line, 418 MB, into test/netlify/node_modules …");
  execFileSync("npm", ["ci", "--prefix", here], { stdio: "inherit" });
}
