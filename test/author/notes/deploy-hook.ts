// test/author/notes/deploy-hook.ts: the git hook in docs/hosts.md, which builds a site after a push.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPO } from "../../helpers/paths.js";

/**
 * Installs the hook in a bare repository.
 *
 * @param folder - folder of the site to build, with its `node_modules`
 * @param build - the command that builds the site
 */
export function writeDeployHook(repository: string, folder: string, build: string): void {
  const document = readFileSync(join(REPO, "docs/hosts.md"), "utf8");
  const [, hook] = /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(document) ?? [];
  if (hook === undefined) throw new Error("There is no hook in docs/hosts.md.");
  const adapted = hook
    .replaceAll("/srv/alice.example", folder)
    .replace("npm ci\n", "")
    .replace("npx @11ty/eleventy", build);
  writeFileSync(join(repository, "hooks/post-receive"), adapted, { mode: 0o755 });
}
