import { describe, expect, it } from "vitest";
import { shownSafely } from "../../plugin/cli/terminal.js";
import { blog, command } from "./helpers.js";

/** The ranges of control characters and of characters that change the direction of text. */
const UNSAFE = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
].flatMap(([first = 0, last = 0]) => Array.from({ length: last - first + 1 }, (_, at) => first + at));

describe("text for a terminal", () => {
  it.each(UNSAFE.map((code) => [code.toString(16).padStart(4, "0")]))("has U+%s escaped", (code) => {
    expect(shownSafely(`a${String.fromCharCode(Number.parseInt(code, 16))}b`)).toBe(`a\\u${code}b`);
  });

  it("has all other characters unchanged, including tabs, line feeds and other scripts", () => {
    const text = "a\tb\nc שלום مرحبا 👩‍👩‍👧 ü \\u202e";
    expect(shownSafely(text)).toBe(text);
  });

  it("is equivalent JSON if it is JSON", () => {
    const message = { text: `\u202eevil\u2069 \\\u200f"\u2028\u009b\u001b]0;x\u0007` };
    const line = shownSafely(JSON.stringify(message));
    expect(line).not.toMatch(/[^\x20-\x7e]/);
    expect(JSON.parse(line)).toEqual(message);
  });

  it("is escaped on standard output and standard error", async () => {
    const { folder } = blog({});
    const printed = await command(folder, ["post", "--dry-run", "a\u202eb\u001b[2J"]);
    expect(printed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("\na\\u202eb\\u001b[2J\n") });
    const refused = await command(folder, ["post", "--\u2066x"]);
    expect(refused.stderr).toContain("--\\u2066x");
  });
});
