import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { afterPush, commitMessage, planPublication, publish } from "../../../plugin/author/notes/publish.js";
import { loadSite } from "../../../plugin/author/site.js";
import { blog, testTerminal } from "../../cli/helpers.js";
import { post, site } from "../../helpers/site.js";
import { type GitSite, gitSite } from "./git-site.js";

const NOTE = "notes/20261120-093000.md";

function planOf(
  { folder, site, machine }: Pick<GitSite, "folder" | "site" | "machine">,
  files = [NOTE],
  message = "It's here",
  hasFollow = true,
) {
  return planPublication({ files: files.map((file) => join(folder, file)), message }, { hasFollow, site, machine });
}

/** Two branches that changed the same file. */
function conflict({ git, write }: Pick<GitSite, "git" | "write">): void {
  for (const [branch, text] of [
    ["side", "one"],
    ["main", "other"],
  ] as const) {
    git("switch", "--quiet", ...(branch === "side" ? ["--create"] : []), branch);
    write("index.md", text);
    git("commit", "--quiet", "--all", "-m", branch);
  }
}

/** Plans and publishes files of a site. @returns the commands, their output, and the error message if it fails */
async function published(alice: GitSite, files?: string[], message?: string) {
  const { site, machine } = alice;
  const plan = await planOf(alice, files, message);
  let output = "";
  const shown: string[] = [];
  const publishing = publish(plan, {
    ...{ site, machine },
    onCommand: (command) => shown.push(command.shown),
    onOutput: (line) => {
      output += `${line}\n`;
    },
  });
  const outcome = await publishing.then(
    () => null,
    (error: Error) => error.message,
  );
  return { plan, shown, output, outcome };
}

describe("publishing a note", () => {
  it("adds, commits and pushes the note with the displayed commands, and forwards their output", async () => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    const { plan, shown, output, outcome } = await published(alice);
    expect(outcome).toBeNull();
    expect(shown).toEqual([`git add -- ${NOTE}`, `git commit --only -m 'It'\\''s here' -- ${NOTE}`, "git push"]);
    expect(plan.commands.map((command) => command.shown)).toEqual(shown);
    expect(plan).toMatchObject({ remote: "origin/main", earlier: [] });
    expect(output).toMatch(/It's here[\s\S]*1 file changed[\s\S]*main -> main/);
    expect(alice.published()).toEqual(["It's here", "first"]);
    expect(alice.git("show", "--format=", "--name-only", "HEAD")).toBe(NOTE);
  });

  it("commits no other changed or staged files", async () => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    alice.write("index.md", "changed");
    alice.write("staged.md", "staged");
    alice.git("add", "staged.md");
    expect(await published(alice)).toMatchObject({ outcome: null });
    expect(alice.git("show", "--format=", "--name-only", "HEAD")).toBe(NOTE);
    expect(alice.git("status", "--porcelain")).toBe("M index.md\nA  staged.md");
  });

  it("accepts file names with spaces, quotes, wildcards and leading dashes", async () => {
    const names = ["notes/a b.md", "notes/it's.md", "-x.md", "*.md", "notes/:(top)y.jpg", "notes/ä.md"];
    const alice = await gitSite();
    for (const name of names) alice.write(name, "x");
    alice.write("other.md", "not published");
    expect(await published(alice, names, "--amend")).toMatchObject({ outcome: null });
    const commit = alice.git("-c", "core.quotePath=false", "show", "--format=%s", "--name-only", "HEAD").split("\n");
    expect(commit.sort()).toEqual(["--amend", "", ...names].sort());
    expect(alice.git("status", "--porcelain")).toBe("?? other.md");
  });

  it("lists the earlier commits that the push would also publish", async () => {
    const alice = await gitSite();
    alice.git("commit", "--quiet", "--allow-empty", "-m", "a secret draft");
    alice.write(NOTE, "Hello\n");
    expect((await planOf(alice)).earlier).toEqual(["a secret draft"]);
    expect(alice.published()).toEqual(["first"]);
  });

  it("only pushes if an earlier push failed after its commit", async () => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    alice.hook("pre-push", "exit 1");
    expect((await published(alice)).outcome).toContain("pre-push");
    rmSync(join(alice.folder, ".git/hooks/pre-push"));
    const { shown, plan, outcome } = await published(alice);
    expect([outcome, shown, plan.earlier]).toEqual([null, ["git push"], ["It's here"]]);
    expect(alice.published()).toEqual(["It's here", "first"]);
  });
});

describe("publishing a mention of a newly followed feed", () => {
  const FOLLOW = "_data/follow.json";
  const BOB = `[{ "nick": "bob", "url": "https://bob.example/twtxt.txt" }]`;
  const MENTION = post({ date: "2026-11-20T09:30:00Z", tags: "posts" }, "Hi @bob");

  /** The texts of the feed that a build of a fresh clone writes. */
  async function builtFromClone({ folder, git, remote }: GitSite): Promise<string[]> {
    const clone = join(folder, "data/clone");
    git("clone", "--quiet", remote, clone);
    const names = git("-C", clone, "ls-files").split("\n");
    const { texts } = await site({
      files: Object.fromEntries(names.map((name) => [name, readFileSync(join(clone, name), "utf8")])),
    });
    return texts();
  }

  it("also publishes the file of followed feeds, so that a fresh clone builds the mention", async () => {
    const alice = await gitSite();
    alice.write(NOTE, MENTION);
    alice.write(FOLLOW, BOB);
    const { plan, outcome } = await published(alice);
    expect(outcome).toBeNull();
    expect(plan.follow).toBe(FOLLOW);
    expect(plan.commands[0]?.shown).toBe(`git add -- ${NOTE} ${FOLLOW}`);
    expect(await builtFromClone(alice)).toEqual(["Hi @<bob https://bob.example/twtxt.txt>"]);
    await expect(planOf(alice)).rejects.toThrow("It is published already.");
  });

  it("leaves out the file if the author declines, and can publish it alone later", async () => {
    const alice = await gitSite();
    alice.write(NOTE, MENTION);
    alice.write(FOLLOW, BOB);
    const { site, machine } = alice;
    const without = await planOf(alice, [NOTE], "It's here", false);
    expect(without.follow).toBe(FOLLOW);
    await publish(without, { site, machine, onCommand: () => {} });
    expect(await builtFromClone(alice)).toEqual(["Hi @bob"]);
    await expect(planOf(alice, [NOTE], "It's here", false)).rejects.toThrow("It is published already.");
    expect((await published(alice)).shown).toEqual([
      `git add -- ${FOLLOW}`,
      `git commit --only -m 'Feeds that I follow' -- ${FOLLOW}`,
      "git push",
    ]);
    expect(alice.published()).toEqual(["Feeds that I follow", "It's here", "first"]);
  });

  it("does not offer a file that git ignores", async () => {
    const alice = await gitSite();
    alice.write(NOTE, MENTION);
    alice.write(FOLLOW, BOB);
    alice.write(".git/info/exclude", "_data\n");
    expect(await planOf(alice)).toMatchObject({ follow: null });
  });
});

describe("publishing fails with advice, and changes nothing", () => {
  it("outside a repository", async () => {
    const { folder, write } = blog({});
    write(NOTE, "Hello\n");
    const machine = { ...(await gitSite()).machine, folder };
    await expect(planOf({ folder, machine, site: await loadSite(machine) })).rejects.toThrow(
      `${folder} is not in a git repository. Publish the way you deploy your site.`,
    );
  });

  it("without git", async () => {
    const alice = await gitSite();
    const machine = { ...alice.machine, environment: { PATH: alice.folder } };
    await expect(planOf({ ...alice, machine })).rejects.toThrow("git is not installed, or not in your PATH.");
  });

  it.each<[string, (alice: GitSite) => void, RegExp]>([
    [
      "without an upstream",
      ({ git }) => void git("switch", "--quiet", "--create", "new"),
      /branch new has no upstream.*: git push --set-upstream origin new$/,
    ],
    [
      "without a remote",
      ({ git }) => void git("remote", "remove", "origin"),
      /no remote to push to.*git remote add origin URL/,
    ],
    ["on a detached head", ({ git }) => void git("checkout", "--quiet", "--detach"), /detached HEAD.*git switch main$/],
    [
      "without a name for commits",
      ({ git }) => {
        git("config", "--unset", "user.name");
        git("config", "--unset", "user.email");
        git("config", "user.useConfigOnly", "true");
      },
      /does not know your name.*git config --global user\.name/,
    ],
    [
      "during a merge",
      ({ git }) => {
        git("switch", "--quiet", "--create", "side");
        git("commit", "--quiet", "--allow-empty", "-m", "side");
        git("switch", "--quiet", "main");
        git("merge", "--quiet", "--no-ff", "--no-commit", "side");
      },
      /merge is not finished.*git merge --abort/,
    ],
    [
      "during a cherry-pick",
      ({ git, write }) => {
        conflict({ git, write });
        expect(() => git("cherry-pick", "side")).toThrow(/conflict/i);
      },
      /A cherry-pick is not finished.*git cherry-pick --continue.*git cherry-pick --abort/,
    ],
    [
      "during a rebase",
      ({ git, write }) => {
        conflict({ git, write });
        expect(() => git("rebase", "side")).toThrow(/conflict/i);
      },
      /A rebase is not finished.*git rebase --continue.*git rebase --abort/,
    ],
    [
      "if everything is published",
      ({ git }) => {
        git("add", NOTE);
        git("commit", "-m", "x");
        git("push");
      },
      /It is published already\.$/,
    ],
  ])("%s", async (_, change, sentence) => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    change(alice);
    const before = alice.git("status", "--porcelain");
    await expect(planOf(alice)).rejects.toThrow(sentence);
    expect(alice.git("status", "--porcelain")).toBe(before);
  });

  it("in a repository of another user", async () => {
    const alice = await gitSite();
    const environment = { ...alice.machine.environment, GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };
    await expect(planOf({ ...alice, machine: { ...alice.machine, environment } })).rejects.toThrow(
      `belongs to another user. If it is yours: git config --global --add safe.directory ${alice.folder}`,
    );
  });

  it("for a file that git ignores", async () => {
    const alice = await gitSite();
    alice.write("ignored/x.md", "x");
    await expect(planOf(alice, ["ignored/x.md"])).rejects.toThrow(
      "git ignores ignored/x.md. Remove the line from .gitignore",
    );
  });
});

describe("publishing that git refuses: an error message explains why", () => {
  it.each<[string, (alice: GitSite) => void, RegExp, string[]]>([
    [
      "a remote with other commits",
      ({ git, folder, remote }) => {
        git("clone", "--quiet", remote, "data/other");
        const there = ["-C", join(folder, "data/other"), "-c", "user.name=B", "-c", "user.email=b@b.example"];
        git(...there, "commit", "--quiet", "--allow-empty", "-m", "other");
        git(...there, "push", "--quiet");
      },
      /^origin\/main has commits that you do not have\. Get them with git pull --rebase, then publish again\./,
      ["other", "first"],
    ],
    [
      "a hook at the remote",
      ({ hook }) => hook("pre-receive", "echo closed today >&2; exit 1", "remote"),
      /^origin\/main refused the push/,
      ["first"],
    ],
    [
      "a remote that has moved",
      ({ git }) => void git("remote", "set-url", "origin", "/nowhere"),
      /^origin\/main cannot be reached\./,
      ["first"],
    ],
    [
      "a remote that asks for a password",
      ({ git, hook, folder }) => {
        hook("ask", 'echo "fatal: could not read Username for x: terminal prompts disabled" >&2; exit 1');
        git("remote", "set-url", "origin", `ext::${join(folder, ".git/hooks/ask")}`);
        git("config", "protocol.ext.allow", "always");
      },
      /does not accept your login.*credential helper or ssh-agent/,
      ["first"],
    ],
  ])("%s: the commit is kept", async (_, change, sentence, there) => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    change(alice);
    const { outcome, shown } = await published(alice);
    expect(outcome).toMatch(sentence);
    expect(outcome).toContain("Your commit is kept.");
    expect(shown.at(-1)).toBe("git push");
    expect(alice.published()).toEqual(there);
    expect(alice.git("log", "-1", "--format=%s")).toBe("It's here");
  });

  it("another git command holds the lock: nothing is committed", async () => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    alice.write(".git/index.lock", "");
    const { outcome, output, shown } = await published(alice);
    expect(outcome).toBe(
      `Another git command is running in the repository, or one was killed. Wait until it ends; if there is none, delete ${join(alice.folder, ".git/index.lock")}, then publish again. Nothing was published.`,
    );
    expect(output).toContain("File exists");
    expect(shown).toEqual([`git add -- ${NOTE}`]);
    expect(alice.published()).toEqual(["first"]);
  });

  it("a hook refuses the commit: nothing is pushed", async () => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    alice.hook("pre-commit", "echo 'spelling mistake'; exit 1");
    const { outcome, output, shown } = await published(alice);
    expect(outcome).toMatch(/^git commit failed; its output says why\. A hook .* Nothing was published\.$/);
    expect(output).toContain("spelling mistake");
    expect(shown.at(-1)).toMatch(/^git commit/);
    expect(alice.published()).toEqual(["first"]);
  });

  it("a hook writes endless output: only part of it is forwarded, and Ctrl-C ends the hook", async () => {
    const alice = await gitSite();
    alice.write(NOTE, "Hello\n");
    alice.hook("pre-push", "while :; do echo x; done");
    const { site, machine } = alice;
    const ending = new AbortController();
    let length = 0;
    const publishing = publish(await planOf(alice), {
      ...{ site, machine, signal: ending.signal },
      onCommand: () => {},
      onOutput(line) {
        length += line.length + 1;
        if (length >= 60 * 1024) ending.abort();
      },
    });
    await expect(publishing).rejects.toThrow("git push was ended before it was done.");
    expect(length).toBeLessThanOrEqual(3 * 64 * 1024);
    expect(alice.published()).toEqual(["first"]);
  });
});

describe("the message after the push says how the post gets online", () => {
  it.each([
    ["netlify", /^It is online as soon as Netlify has built and deployed the site, which then sends/],
    ["node", /^It is online as soon as your site is built with it\. Then eleventy-twtxt serve sends/],
    ["static", /as soon as your host has built and deployed the site\. .*npx eleventy-twtxt send$/],
  ] as const)("%s", async (host, sentence) => {
    const { folder } = blog({ host });
    expect(afterPush(await loadSite(testTerminal(folder, "2026-11-20T09:30:00Z")))).toMatch(sentence);
  });
});

describe("the message of a commit", () => {
  it.each([
    ["Hello from *my* site.\nMore.", "Hello from *my* site."],
    ["@<bob https://bob.example/twtxt.txt> yes", "@bob yes"],
    [" \n", "New note"],
    ["word ".repeat(30), `${"word ".repeat(12).trim()}…`],
    ["![a *red* square](20261120-093000-1.jpg)", "a *red* square"],
    ["![](20261120-093000-1.jpg)", "New note"],
  ])("is the start of the text: %j", (text, message) => {
    expect(commitMessage(text)).toBe(message);
  });
});
