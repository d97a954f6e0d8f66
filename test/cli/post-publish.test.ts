// test/cli/post-publish.test.ts: `eleventy-twtxt post --publish`.
import { describe, expect, it } from "vitest";
import { type GitSite, gitSite } from "../author/notes/git-site.js";
import { command, testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";

/** Runs `post --publish` on a terminal where the author gives these answers. */
async function post({ folder, machine }: GitSite, ...answers: (string | null)[]) {
  const terminal = testTerminal(folder, "2026-11-20T09:30:00Z", null, true);
  const questions: string[] = [];
  const exitCode = await runCommandLine(["post", "--publish", "Hello from *my* site."], {
    ...terminal,
    environment: machine.environment,
    ended: () => new Promise(() => {}),
    ask: async (question) => {
      questions.push(question);
      return answers[questions.length - 1] ?? null;
    },
  });
  return { exitCode, questions, stderr: terminal.stderr.join("\n"), printed: terminal.stdout };
}

const COMMANDS = `To publish:
  git add -- notes/20261120-093000.md
  git commit --only -m 'Hello from *my* site.' -- notes/20261120-093000.md
  git push`;

describe("eleventy-twtxt post --publish", () => {
  it("shows the commands, runs them after a confirmation, and shows their output", async () => {
    const alice = await gitSite();
    const { exitCode, questions, stderr, printed } = await post(alice, "y");
    expect([exitCode, printed, questions]).toEqual([0, ["notes/20261120-093000.md"], ["Run these commands? [y/N] "]]);
    expect(stderr.startsWith(COMMANDS)).toBe(true);
    expect(stderr).toMatch(
      /\n\$ git push\n[\s\S]*main -> main\nPublished to origin\/main\. It is online as soon as your host has built .*$/,
    );
    expect(alice.published()).toEqual(["Hello from *my* site.", "first"]);
  });

  it("publishes nothing after Enter, and lists what it would have published", async () => {
    const alice = await gitSite();
    alice.git("commit", "--quiet", "--allow-empty", "-m", "a secret draft");
    const { exitCode, stderr } = await post(alice, "");
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      `${COMMANDS}\nThe push also publishes earlier commits that origin/main does not have:\n  a secret draft\nNothing was published. The note is saved.`,
    );
    expect(alice.published()).toEqual(["first"]);
    expect(alice.git("status", "--porcelain")).toBe("?? notes/");
  });

  it.each([
    ["Enter", "", "notes/20261120-093000.md _data/follow.json"],
    ["no", "n", "notes/20261120-093000.md"],
  ])("asks whether to publish a changed list of followed feeds too: %s", async (_, answer, files) => {
    const alice = await gitSite();
    alice.write("_data/follow.json", "[]");
    const { questions, stderr } = await post(alice, answer, "y");
    expect(questions).toEqual(["Publish _data/follow.json, too? [Y/n] ", "Run these commands? [y/N] "]);
    expect(stderr).toContain("_data/follow.json has changes that are not committed. Without them, a build elsewhere");
    expect(stderr).toContain(`\n$ git add -- ${files}\n`);
    expect(alice.git("status", "--porcelain", "--untracked-files=all")).toBe(
      answer === "n" ? "?? _data/follow.json" : "",
    );
  });

  it("publishes nothing after Ctrl-C at this question", async () => {
    const alice = await gitSite();
    alice.write("_data/follow.json", "[]");
    const { exitCode, stderr } = await post(alice, null);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/\nNothing was published\. The note is saved\.$/);
    expect(alice.published()).toEqual(["first"]);
  });

  it("2 bad-usage: writes nothing without a terminal", async () => {
    const alice = await gitSite();
    const { exitCode, stderr } = await command(alice.folder, ["post", "--publish", "Hello"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--publish asks before it publishes, so it needs a terminal.");
    expect(alice.git("status", "--porcelain")).toBe("");
  });
});
