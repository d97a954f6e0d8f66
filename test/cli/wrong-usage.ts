// test/cli/wrong-usage.ts: tests of arguments that a command refuses.
import { expect, it } from "vitest";
import { blog, command } from "./helpers.js";
import { environmentOf } from "./machine.js";

/** Tests that a command refuses arguments with one line, which contains the message and says what to type, and does nothing. */
export function itRefusesUsage(name: string, cases: readonly (readonly [args: string[], message: string])[]): void {
  it.each(cases)(`2: ${name} %j`, async (args, message) => {
    const { folder, list } = blog(null, { "package.json": "{}" });
    const { exitCode, stdout, stderr } = await command(folder, [name, ...args], { environment: environmentOf(folder) });
    expect([exitCode, stdout, list(".")]).toEqual([2, "", ["package.json"]]);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(new RegExp(`^eleventy-twtxt: [^\\n]* Type: eleventy-twtxt ${name} --help\\n$`));
  });
}
