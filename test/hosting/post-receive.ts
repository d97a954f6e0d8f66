// test/hosting/post-receive.ts: installs docs/hosting/post-receive, the git hook that builds and deploys a site.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPO } from "../helpers/paths.js";

/**
 * Installs the hook in a bare repository.
 *
 * @param folder - the folder of the deployed site
 * @param replacements - other commands for `npm ci` and `npx @11ty/eleventy`; default: none
 */
export function installDeployHook(
  repository: string,
  folder: string,
  replacements: { install?: string; build?: string } = {},
): void {
  const { install = "npm ci", build = "npx @11ty/eleventy" } = replacements;
  const hook = readFileSync(join(REPO, "docs/hosting/post-receive"), "utf8");
  const adapted = hook
    .replace("site=/srv/alice.example\n", `site=${folder}\n`)
    .replace("  npm ci\n", `  ${install}\n`)
    .replace("\nnpx @11ty/eleventy\n", `\n${build}\n`);
  mkdirSync(join(repository, "hooks"), { recursive: true });
  writeFileSync(join(repository, "hooks/post-receive"), adapted, { mode: 0o755 });
}

/** The settings of the site that the hook has deployed into a folder, for `--settings`. */
export function deployedSettings(folder: string): string {
  return join(folder, "current/.eleventy-twtxt/settings.json");
}
