import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blog, command, testTerminal } from "./helpers.js";
import { runCommandLine } from "./run-command-line.js";

const { folder } = blog(null);

describe("the command line", () => {
  it("--help lists the commands on stdout, and so do -h and help", async () => {
    const help = await command(folder, ["--help"]);

    expect(help).toMatchObject({ exitCode: 0, stderr: "" });
    expect(help.stdout).toMatch(
      /^Usage: eleventy-twtxt COMMAND[\s\S]*\n {2}post +writes a note\n[\s\S]*\n {2}stamp +writes dates/,
    );
    expect(await command(folder, ["-h"])).toEqual(help);
    expect(await command(folder, ["help"])).toEqual(help);
  });

  it.each(["post", "stamp"])("%s --help has an example, and help COMMAND says the same", async (name) => {
    const help = await command(folder, [name, "--dry-run", "--help"]);

    expect(help).toMatchObject({ exitCode: 0, stderr: "" });
    expect(help.stdout).toContain(`Example:\n  $ eleventy-twtxt ${name}`);
    expect(await command(folder, ["help", name])).toEqual(help);
  });

  it("--version is that of the package", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(await command(folder, ["--version"])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("2: no arguments", async () => {
    const outcome = await command(folder, []);
    expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
    expect(outcome.stderr).toContain("Usage: eleventy-twtxt COMMAND");
  });

  it.each([
    [["pots"], 'There is no command "pots". Did you mean "post"? Type: eleventy-twtxt --help'],
    [["constructor"], 'There is no command "constructor". Type: eleventy-twtxt --help'],
    [["help", "stmp"], 'There is no command "stmp". Did you mean "stamp"? Type: eleventy-twtxt --help'],
    [
      ["--settings", "x", "post"],
      'Options follow the command, but "--settings" comes before it. Type: eleventy-twtxt --help',
    ],
    [
      ["stamp", "--dryrun"],
      'stamp: there is no option "--dryrun". Did you mean "--dry-run"? Type: eleventy-twtxt stamp --help',
    ],
    [
      ["post", "-_-"],
      'post: there is no option "-_". Put "--" before an argument that starts with "-". Type: eleventy-twtxt post --help',
    ],
    [["post", "--reply-to"], "post: --reply-to needs a value. Type: eleventy-twtxt post --help"],
    [["post", "--reply-to", "--edit"], "post: --reply-to needs a value. Type: eleventy-twtxt post --help"],
    [["stamp", "--dry-run=yes"], 'stamp: --dry-run takes no value, got "yes". Type: eleventy-twtxt stamp --help'],
  ])("2: one line that says what to type: %j", async (args, line) => {
    expect(await command(folder, args)).toEqual({ exitCode: 2, stdout: "", stderr: `eleventy-twtxt: ${line}\n` });
  });

  it("1: an unexpected error, with a request to report it", async () => {
    const terminal = testTerminal(folder, "2026-11-20T09:30:00Z");
    const broken = {
      ...terminal,
      print: () => {
        throw new RangeError("out of ink");
      },
    };
    expect(await runCommandLine(["--help"], broken)).toBe(1);
    expect(terminal.stderr.join("\n")).toMatch(
      /Please report it to eleventy-plugin-twtxt[\s\S]*RangeError: out of ink\n +at /,
    );
  });
});

describe("the settings of the site", () => {
  it("1 no-settings: the site was never built", async () => {
    expect(await command(folder, ["stamp"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "eleventy-twtxt: There is no built site here: .eleventy-twtxt/settings.json is missing. Change to the folder of your site, and build it: npx @11ty/eleventy\n",
    });
    expect((await command(folder, ["stamp", "--settings", "no.json"])).stderr).toContain(
      ": There is no no.json. Build the site first: npx @11ty/eleventy",
    );
  });

  it.each(["{", '{"version":1}', '{"version":3}', '{"version":5}'])(
    "1 no-settings: another version of the settings file: %s",
    async (content) => {
      const site = blog(null, { ".eleventy-twtxt/settings.json": content });
      const { exitCode, stderr } = await command(site.folder, ["stamp"]);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^eleventy-twtxt: \S+settings.json was not written by a build of this version\. .*\n$/);
    },
  );

  it("are found from a subfolder, to which file names are relative", async () => {
    const files = { "notes/a.md": "---\ndate: 2026-01-02\n---\n" };
    const site = blog({ unstamped: [{ file: "./notes/a.md", timestamp: "2026-01-02T00:13:37Z" }] }, files);
    const { stdout } = await command(join(site.folder, "notes"), ["stamp", "--dry-run"]);
    expect(stdout).toBe("a.md: 2026-01-02 -> 2026-01-02T00:13:37Z\n");
  });

  it("--settings names another file; the site is in the folder above it", async () => {
    const files = { "notes/a.md": "---\ndate: 2026-01-02\n---\n" };
    const site = blog({ unstamped: [{ file: "notes/a.md", timestamp: "2026-01-02T00:13:37Z" }] }, files);
    const settings = join(site.folder, ".eleventy-twtxt/settings.json");
    const { stdout } = await command(folder, ["stamp", "--settings", settings, "--dry-run"]);
    expect(stdout).toMatch(/^\.\.\/twtxt-cli-\w+\/notes\/a\.md: 2026-01-02 -> 2026-01-02T00:13:37Z\n$/);
  });
});
