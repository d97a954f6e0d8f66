import { spawn, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { COMMAND } from "../helpers/paths.js";
import { type Blog, blog, command, testTerminal } from "./helpers.js";
import {
  describeWithoutKeychain,
  environmentOf,
  fileIn,
  KEY_FILE,
  PAPER_FILE,
  PAPER_KEX,
  PAPER_WORDS,
} from "./machine.js";
import { runCommandLine } from "./run-command-line.js";

/** Runs `eleventy-twtxt keys ARGS` on a terminal where the user types these lines at the prompts, and then cancels. */
async function keysOnTerminal({ folder }: Blog, args: string[], lines: string[] = []) {
  const terminal = testTerminal(folder, "2026-11-20T10:00:00Z", null, true);
  const prompts: string[] = [];
  const exitCode = await runCommandLine(["keys", ...args], {
    ...terminal,
    readSecret: async (promptFor) => {
      let typed = "";
      for (const line of [...lines, null]) {
        const prompt = promptFor(typed);
        if (prompt === null) return typed;
        prompts.push(prompt);
        if (line === null) break;
        typed += `${line}\n`;
      }
      return null;
    },
  });
  return { exitCode, stdout: terminal.stdout, stderr: terminal.stderr.join("\n"), prompts };
}

describe("eleventy-twtxt keys backup on a terminal", () => {
  it("shows the 24 words after a warning", async () => {
    const machine = blog(null);
    fileIn(machine, "alice.key", PAPER_FILE);
    const args = ["backup", "alice@alice.example", "--identity", "alice.key"];
    const { exitCode, stdout, stderr } = await keysOnTerminal(machine, args);
    expect(exitCode).toBe(0);
    expect(stdout[0]).toBe(" 1 absurd      2 amount      3 doctor      4 acoustic");
    expect(stdout.join(" ").replace(/\d+/g, "").trim().split(/\s+/).join(" ")).toBe(PAPER_WORDS);
    expect(stderr).toMatch(/^These words are the private key of alice@alice\.example\. Anyone who has them can sign/);
    expect(stderr).toContain("eleventy-twtxt keys restore alice@alice.example");
  });

  it("1: shows no words for another address", async () => {
    const machine = blog(null);
    fileIn(machine, "alice.key", PAPER_FILE);
    const outcome = await keysOnTerminal(machine, ["backup", "bob@bob.example", "--identity", "alice.key"]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: [] });
  });
});

describeWithoutKeychain("eleventy-twtxt keys restore", () => {
  it("reads the words from standard input", async () => {
    const machine = blog(null);
    const input = `${PAPER_WORDS.toUpperCase().replaceAll(" ", "\n")}\n`;
    const environment = environmentOf(machine.folder);
    const outcome = await command(machine.folder, ["keys", "restore", "Alice@alice.example"], { input, environment });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: `${PAPER_KEX}\n` });
    expect(outcome.stderr).toContain(`address: "alice@alice.example",\n  key: "${PAPER_KEX}",\n`);
    expect(machine.read(KEY_FILE)).toBe(PAPER_FILE);

    const again = await command(machine.folder, ["keys", "restore", "alice@alice.example"], { input, environment });
    expect(again).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("already has a key") });
    expect(machine.read(KEY_FILE)).toBe(PAPER_FILE);
  });

  it("prompts until there are 24 words", async () => {
    const machine = blog(null);
    const words = PAPER_WORDS.split(" ");
    const args = ["restore", "alice@alice.example", "--file", "alice.key"];
    const lines = [words.slice(0, 12).join(" "), "", words.slice(12).join(" ")];
    const { exitCode, stdout, prompts } = await keysOnTerminal(machine, args, lines);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: [PAPER_KEX] });
    expect(machine.read("alice.key")).toBe(PAPER_FILE);
    expect(prompts).toEqual([
      "Type the 24 words, in one line or several; they are not shown: ",
      "12 of 24 words so far; the next ones: ",
      "12 of 24 words so far; the next ones: ",
    ]);
  });

  it("1: stores nothing if the input is cancelled", async () => {
    const machine = blog(null);
    const args = ["restore", "alice@alice.example", "--file", "alice.key"];
    const outcome = await keysOnTerminal(machine, args, ["absurd amount"]);
    expect(outcome).toMatchObject({ exitCode: 1, stdout: [], stderr: "Nothing was restored." });
    expect(machine.list(".")).toEqual([]);
  });

  it.each([
    [PAPER_WORDS.replace("doctor", "doktor"), "Word 3 is not in the English list"],
    [PAPER_WORDS.replace("comic", "cage"), "The checksum of these words does not match"],
    [PAPER_WORDS.replace("absurd ", ""), "Expected 24 words, got 23."],
  ])("1 bad-identity, without showing any of the words: %s", async (input, message) => {
    const machine = blog(null);
    const args = ["keys", "restore", "alice@alice.example", "--file", "alice.key"];
    const { exitCode, stdout, stderr } = await command(machine.folder, args, { input });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(`eleventy-twtxt: ${message}`);
    expect(stderr).not.toMatch(/absurd|amount|do[ck]tor|acoustic|comic|cage/);
    expect(machine.list(".")).toEqual([]);
  });
});

/** Runs `eleventy-twtxt keys ARGS` in a pseudo-terminal, and types an answer when this prompt appears. */
function inRealTerminal({ folder }: Blog, args: string[], prompt: string, answer: string) {
  const line = [process.execPath, COMMAND, "keys", ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: folder,
    env: { ...process.env, SHELL: "/bin/sh" },
  });
  let shown = "";
  let isAnswered = false;
  child.stdout.on("data", (data) => {
    shown += data;
    if (isAnswered || !shown.includes(prompt)) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  return new Promise<{ exitCode: number | null; shown: string }>((resolve) => {
    child.on("close", (exitCode) => resolve({ exitCode, shown }));
  });
}

const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

describe.skipIf(!hasScript)("eleventy-twtxt keys in a real terminal", () => {
  it("shows the words of backup, and does not echo the words typed for restore", async () => {
    const machine = blog(null);
    const words = PAPER_WORDS.replace(" acoustic", "\racoustic");
    const restore = ["restore", "alice@alice.example", "--file", "alice.key"];
    const restored = await inRealTerminal(machine, restore, "they are not shown: ", `${words}\r`);
    expect(restored.exitCode).toBe(0);
    expect(restored.shown).toContain(PAPER_KEX);
    expect(restored.shown).toContain("3 of 24 words so far");
    expect(restored.shown).not.toMatch(/absurd|acoustic|comic/);
    expect(machine.read("alice.key")).toBe(PAPER_FILE);

    const backup = ["backup", "alice@alice.example", "--identity", "alice.key"];
    const { exitCode, shown } = await inRealTerminal(machine, backup, "never asked", "");
    expect(exitCode).toBe(0);
    expect(shown).toMatch(/ 4 acoustic\r\n[\s\S]*24 comic\r\n/);
  });

  it("1: Ctrl-C cancels restore, and nothing is stored", async () => {
    const machine = blog(null);
    const restore = ["restore", "alice@alice.example", "--file", "alice.key"];
    const { exitCode, shown } = await inRealTerminal(machine, restore, "they are not shown: ", "absurd amount\u0003");
    expect(exitCode).toBe(1);
    expect(shown).toContain("Nothing was restored.");
    expect(machine.list(".")).toEqual([]);
  });
});
