import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allCommands } from "../../plugin/cli/command-line.js";

const doc = readFileSync(new URL("../../docs/commands.md", import.meta.url), "utf8");
const [start = "", ...sections] = doc.split(/^## /m);
const commands = await allCommands();

/** The names of the options in a help text, such as `--json`. */
function optionsIn(help: string): string[] {
  return [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name = ""]) => name);
}

describe.each(commands.map((command) => [command.name, command] as const))("the help of %s", (name, { help }) => {
  it("fits into 100 columns, and has an example", () => {
    expect(help.split("\n").filter((line) => line.length > 100)).toEqual([]);
    expect(help).toMatch(new RegExp(`\n\nExample:\n {2}\\$ eleventy-twtxt ${name} ?`));
  });

  it("has its options explained in docs/commands.md", () => {
    const section = sections.find((one) => one.split("\n", 1)[0]?.includes(`\`${name}\``)) ?? "";
    expect(optionsIn(help)).toContain("--settings");
    expect(optionsIn(help).filter((option) => !`${start}${section}`.includes(`${option}`))).toEqual([]);
  });
});
