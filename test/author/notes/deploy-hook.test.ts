import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { REPO } from "../../helpers/paths.js";
import { writeDeployHook } from "./deploy-hook.js";
import { gitSite } from "./git-site.js";

it("the hook in docs/hosts.md builds the pushed commit, without deleted files", async () => {
  const { folder, git, remote, write } = await gitSite();
  const deployed = join(folder, "data/alice.example");
  mkdirSync(deployed, { recursive: true });
  symlinkSync(join(REPO, "node_modules"), join(deployed, "node_modules"));
  writeDeployHook(remote, deployed, `${process.execPath} ${join(REPO, "node_modules/@11ty/eleventy/cmd.cjs")} --quiet`);

  write("quinces.md", "The first quinces are in.");
  git("add", "quinces.md");
  git("commit", "--quiet", "-m", "Quinces");
  git("push", "--quiet");
  expect(readFileSync(join(deployed, "_site/quinces/index.html"), "utf8")).toContain("The first quinces are in.");

  git("rm", "--quiet", "quinces.md");
  git("commit", "--quiet", "-m", "No quinces");
  git("push", "--quiet");
  expect(existsSync(join(deployed, "quinces.md"))).toBe(false);
  expect(existsSync(join(deployed, "index.md"))).toBe(true);
});
