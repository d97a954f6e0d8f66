import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blog, command, testTerminal, undatedBlog } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";

const AT = "2026-01-02T00:13:37Z";
const DAY = "---\ntitle: A\ndate: 2026-01-02 # day\n---\nbody\n";

/** Runs git in a folder, with a fixed time. */
function git(folder: string, date: string, ...args: string[]): void {
  const identity = ["-c", "user.name=alice", "-c", "user.email=alice@example.org"];
  const env = {
    ...process.env,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: "2030-01-01T00:00:00Z",
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  execFileSync("git", [...identity, ...args], { cwd: folder, env, stdio: "pipe" });
}

function commit(folder: string, date: string): void {
  git(folder, date, "add", "-A");
  git(folder, date, "commit", "-qm", "posts");
}

describe("eleventy-twtxt stamp, for a post without any date", () => {
  it("takes the time of its first commit, also across renames, but not that of a post it was copied from", async () => {
    const long = "---\ntitle: A\n---\nA body that is long enough for git to know it again.\nAnd more.\n";
    const { folder, write } = undatedBlog({ "copy.md": "", "new.md": "", "with it's name.md": "" }, null);
    execFileSync("rm", ["copy.md", "new.md", "with it's name.md"], { cwd: folder });
    write("a.md", long);
    git(folder, AT, "init", "-q");
    commit(folder, "2020-01-01T10:00:00+02:00");
    write("copy.md", long.replace("A", "B"));
    commit(folder, "2021-01-01T10:00:00Z");
    git(folder, AT, "mv", "a.md", "with it's name.md");
    write("new.md", "---\ndate: Last Modified\n---\nAnother one.\n");
    commit(folder, "2022-01-01T00:00:00Z");

    expect(await command(folder, ["stamp"])).toEqual({
      exitCode: 0,
      stdout:
        "copy.md: no date -> 2021-01-01T10:00:00Z\nnew.md: Last Modified -> 2022-01-01T00:00:01Z\nwith it's name.md: no date -> 2020-01-01T08:00:00Z\n",
      stderr: "3 posts stamped.\n",
    });
  });

  it("gives posts of one commit consecutive seconds", async () => {
    const { folder } = undatedBlog({ "a.md": "a\n", "b.md": "b\n" }, null);
    git(folder, AT, "init", "-q");
    commit(folder, "2020-01-01T10:00:00Z");
    const { stdout } = await command(folder, ["stamp", "--dry-run"]);
    expect(stdout).toBe("a.md: no date -> 2020-01-01T10:00:00Z\nb.md: no date -> 2020-01-01T10:00:01Z\n");
  });

  it("exit 1: the first commit is missing in a shallow clone", async () => {
    const { folder } = undatedBlog({ "a.md": "a\n" }, null);
    git(folder, AT, "init", "-q");
    commit(folder, "2020-01-01T10:00:00Z");
    git(folder, AT, "commit", "-q", "--allow-empty", "-m", "later");
    git(folder, AT, "clone", "-q", "--depth", "1", `file://${folder}`, "clone");
    const settings = join(folder, ".eleventy-twtxt/settings.json");
    const clone = blog(null);
    git(clone.folder, AT, "clone", "-q", "--depth", "1", `file://${folder}`, ".");
    clone.write(".eleventy-twtxt/settings.json", readFileSync(settings, "utf8"));

    const outcome = await command(clone.folder, ["stamp"]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: "" });
    expect(outcome.stderr).toContain(
      "a.md: not changed: this clone lacks the older commits (git fetch --unshallow brings them); give its date",
    );
  });

  it("exit 1: requires --date without git, and writes it", async () => {
    const { folder, read } = undatedBlog({ "a.md": "---\ndate: Created\n---\n" }, null);
    const outcome = await command(folder, ["stamp"], { environment: { GIT_CEILING_DIRECTORIES: folder } });
    expect(outcome).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "a.md: not changed: git does not know it; give its date with --date\n0 posts stamped, 1 not changed.\n",
    });

    const dated = await command(folder, ["stamp", "a.md", "--date", "2020-05-01T10:00+02:00"]);
    expect(dated).toMatchObject({ exitCode: 0, stdout: "a.md: Created -> 2020-05-01T08:00:00Z\n" });
    expect(read("a.md")).toBe("---\ndate: 2020-05-01T08:00:00Z\n---\n");
  });

  it.each([
    [["--date", "2020-05-01", "a.md"], "stamp: --date: expected a time that is not midnight UTC"],
    [["--date", "2020-05-01T00:00Z", "a.md"], "stamp: --date: expected a time that is not midnight UTC"],
    [["--date", "2020-05-01T10:00Z"], "--date is for one FILE"],
    [
      ["--date", "2020-05-01T10:00Z", "dated.md"],
      `the feed has dated.md at ${AT}. Another date would make it another twt; leave --date out.`,
    ],
  ])("2 bad-usage: stamp %j", async (args, message) => {
    const unstamped = [
      { file: "a.md", timestamp: null },
      { file: "dated.md", timestamp: AT },
    ];
    const terminal = testTerminal(blog({ unstamped }, { "a.md": "a", "dated.md": DAY }).folder, AT);
    expect(await runCommandLine(["stamp", ...args], terminal)).toBe(2);
    expect(terminal.stderr.join()).toContain(message);
  });
});
