// test/author/notes/git-site.ts: a site in a git repository, whose remote is a bare repository on this machine.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../../../plugin/author/machine.js";
import { loadSite, type Site } from "../../../plugin/author/site.js";
import { type Blog, blog, testTerminal } from "../../cli/helpers.js";
import { afterAll } from "../../helpers/hooks.js";

/** A site in a git repository with one commit, which is pushed. */
export interface GitSite extends Blog {
  site: Site;
  machine: Machine;
  /** The bare repository. */
  remote: string;
  /** Runs git in the site's folder. @returns its output */
  git(...args: string[]): string;
  /** The subjects of the remote's commits, newest first. */
  published(): string[];
  /** Installs a git hook. @param repository - the site's repository, or the remote */
  hook(name: string, script: string, repository?: "site" | "remote"): void;
}

/** Ignores the git configuration of this machine. */
export const GIT_ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  PATH: process.env.PATH ?? "",
};

/** The site that tests copy. Its repositories have no sample hooks, to save the copying of many small files. */
let template: Blog | undefined;

afterAll(() => {
  template = undefined;
});

export async function gitSite(): Promise<GitSite> {
  template ??= firstSite();
  const made = blog(null);
  const { folder } = made;
  cpSync(template.folder, folder, { recursive: true });
  const environment = { ...GIT_ENVIRONMENT, HOME: folder, XDG_DATA_HOME: join(folder, "data") };
  const machine = { ...testTerminal(folder, "2026-11-20T09:30:00Z"), environment };
  const git = (...args: string[]) => runGit(folder, args);
  return {
    ...made,
    ...{ site: await loadSite(machine), machine, remote: join(folder, "remote"), git },
    published: () => git("--git-dir", "remote", "log", "--format=%s", "main").split("\n"),
    hook(name, script, repository = "site") {
      const file = `${repository === "site" ? ".git" : "remote"}/hooks/${name}`;
      made.write(file, `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, file), 0o755);
    },
  };
}

function firstSite(): Blog {
  const made = blog({}, { ".gitignore": ".eleventy-twtxt\nremote\ndata\nignored\n", "index.md": "# Alice\n" });
  for (const command of [
    "init --quiet --template= --bare --initial-branch=main remote",
    "init --quiet --template= --initial-branch=main",
    "config user.name Alice",
    // Git would look after each command whether there is something to tidy up.
    "config maintenance.auto false",
    "--git-dir remote config receive.autogc false",
    "config user.email alice@alice.example",
    "add .",
    "commit --quiet -m first",
    "remote add origin ./remote",
    "push --quiet --set-upstream origin main",
  ]) {
    runGit(made.folder, command.split(" "));
  }
  mkdirSync(join(made.folder, "remote/hooks"));
  return made;
}

function runGit(folder: string, args: readonly string[]): string {
  return execFileSync("git", args, { cwd: folder, env: GIT_ENVIRONMENT, stdio: "pipe", encoding: "utf8" }).trim();
}
