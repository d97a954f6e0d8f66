import fc from "fast-check";
import matter from "gray-matter";
import { describe, expect, it } from "vitest";
import { writeField } from "../../plugin/author/notes/front-matter.js";
import { TwtxtError } from "../../plugin/errors.js";
import { runs } from "../helpers/runs.js";

const AT = "2026-01-02T00:13:37Z";

/** The text after stamping, or the reason of the refusal. */
function stamped(text: string): string {
  try {
    return writeField(text, "date", new Date(AT))?.text ?? "unchanged";
  } catch (error) {
    if (error instanceof TwtxtError) return `refused: ${error.message}`;
    throw error;
  }
}

describe("writeField with a date", () => {
  it.each([
    ["a plain date", "---\ndate: 2026-01-02\n---\nx", `---\ndate: ${AT}\n---\nx`],
    [
      "quotes and a comment",
      "---\na: 1\ndate:   '2026-01-02'  # day\nb: 2\n---\n",
      `---\na: 1\ndate:   ${AT}  # day\nb: 2\n---\n`,
    ],
    ["a comment without a value", "---\ndate: # todo\n---\n", `---\ndate: ${AT} # todo\n---\n`],
    ["no value", "---\ndate:\n---\n", `---\ndate: ${AT}\n---\n`],
    ["a quoted key, indented", '---\n  a: 1\n  "date" : Last Modified\n---\n', `---\n  a: 1\n  "date" : ${AT}\n---\n`],
    ["CR LF and a BOM", "\uFEFF---\r\ndate: 2026-01-02 \r\n---\r\nx\r\n", `\uFEFF---\r\ndate: ${AT} \r\n---\r\nx\r\n`],
    ["the language yaml", "---yaml\ndate: 2026-01-02\n---\n", `---yaml\ndate: ${AT}\n---\n`],
    ["an unused anchor", "---\ndate: &d 2026-01-02\n---\n", `---\ndate: ${AT}\n---\n`],
    [
      "a date: below another key",
      "---\nevent:\n  date: 2026-01-02\n---\n",
      `---\nevent:\n  date: 2026-01-02\ndate: ${AT}\n---\n`,
    ],
    [
      "a date: in multi-line strings",
      '---\na: |\n  date: 2026-01-02\nb: "c\ndate: 2026-01-02\nd"\ndate: 2026-01-02\n---\ndate: 2026-01-02\n',
      `---\na: |\n  date: 2026-01-02\nb: "c\ndate: 2026-01-02\nd"\ndate: ${AT}\n---\ndate: 2026-01-02\n`,
    ],
    ["no date", "---\ntitle: a\n---\ndate: 2026-01-02\n", `---\ntitle: a\ndate: ${AT}\n---\ndate: 2026-01-02\n`],
    ["no date, CR LF", "---\r\ntitle: a\r\n---\r\nx", `---\r\ntitle: a\r\ndate: ${AT}\r\n---\r\nx`],
    ["empty front matter", "---\n---\nx", `---\ndate: ${AT}\n---\nx`],
    [
      "a last string that would include the added line",
      "---\na: |+\n  b\n\n---\nx",
      `---\ndate: ${AT}\na: |+\n  b\n\n---\nx`,
    ],
    ["no front matter", "Hello\n\n---\n", `---\ndate: ${AT}\n---\nHello\n\n---\n`],
    ["no front matter, BOM and CR LF", "\uFEFFa\r\nb", `\uFEFF---\r\ndate: ${AT}\r\n---\r\na\r\nb`],
    ["four dashes", "----\nx", `---\ndate: ${AT}\n---\n----\nx`],
    ["an empty file", "", `---\ndate: ${AT}\n---\n`],
    ["an equal date", `---\ndate: "x"\n---\n`.replace('"x"', "2026-01-02T01:13:37+01:00"), "unchanged"],
  ])("%s", (_, before, after) => {
    expect(stamped(before)).toBe(after);
  });

  it.each([
    ["JSON", '---json\n{"date":"2026-01-02"}\n---\n', 'its front matter is in "json", not in YAML'],
    ["JavaScript", "---js\nprocess.exit(9)\n---\n", 'its front matter is in "js", not in YAML'],
    ["not closed", "---\ndate: 2026-01-02\n", "its front matter is not closed by a line of three dashes"],
    ["an anchor in use", "---\ndate: &d 2026-01-02\nupdated: *d\n---\n", "its date is not on one line"],
    ["two lines", "---\ndate:\n  2026-01-02\n---\n", "its date is not on one line"],
    ["a folded text", "---\ndate: >\n  2026-01-02\n---\n", "its date is not on one line"],
    ["flow style on one line", '---\n{"date": "2026-01-02", "a": 1}\n---\n', "its date is not on one line"],
    ["JSON over several lines", '---\n{\n"date": "2026-01-02",\n"a": 1\n}\n---\n', "its date is not on one line"],
    ["flow style without a date", "---\n{a: 1}\n---\n", "its front matter has no room for one more line"],
    [
      "two dates",
      "---\ndate: 2026-01-02\ndate: 2026-01-03\n---\n",
      "its front matter cannot be read: duplicated mapping key",
    ],
    ["a list", "---\n- a\n---\n", "its front matter is not a list of keys and values"],
  ])("refuses, without running code: %s", (_, before, why) => {
    expect(stamped(before)).toBe(`refused: ${why}`);
  });
});

const scalar = fc.oneof(
  fc.constantFrom(
    "plain",
    "'it''s'",
    '"a \\"b\\" # c"',
    "2026-01-02",
    "true",
    "~",
    "[a, date]",
    "{ date: 1 }",
    "a#b",
    "https://x.example/#y",
  ),
  fc.string({ maxLength: 20 }).map((text) => JSON.stringify(text)),
);
const entry: fc.Arbitrary<string[]> = fc.oneof(
  scalar.map((value) => [`KEY: ${value}`]),
  scalar.map((value) => [`KEY: ${value} # date: 2026-01-02`]),
  fc.constantFrom<string[][]>(
    ["KEY: |", "  date: 2026-01-01", "", "  end"],
    ["KEY: >-", "  date: 2026-01-01"],
    ["KEY:", "  date: 2026-01-01", "  deep:", "    date: 2026-01-03"],
    ["KEY:", "- date: 2026-01-01", "- b"],
    ['KEY: "text', "  date: 2026-01-01", '  end"'],
    ["# date: 2026-01-05"],
    [""],
  ),
);
const dateLine = fc.record({
  key: fc.constantFrom("date:", '"date":', "'date':", "date :"),
  gap: fc.constantFrom(" ", "   ", "\t"),
  value: fc.constantFrom(
    "2026-01-02",
    '"2026-01-02"',
    "'2026-01-02'",
    "Last Modified",
    "git Created",
    "2026-01-02T00:00:00Z",
    "~",
  ),
  tail: fc.constantFrom("", " ", " # the day", "\t# date: 2026-01-02"),
});
const frontMatter = fc.record({
  before: fc.array(entry, { maxLength: 4 }),
  date: dateLine,
  after: fc.array(entry, { maxLength: 4 }),
  body: fc.constantFrom("", "date: 2026-01-02\n", "text\n\n---\n\ndate: 2026-01-02", "---\n"),
  lineEnd: fc.constantFrom("\n", "\r\n"),
  mark: fc.constantFrom("", "\uFEFF"),
});

describe("writeField on any front matter", () => {
  it("changes only the line of the date, and is idempotent", () => {
    fc.assert(
      fc.property(frontMatter, ({ before, date, after, body, lineEnd, mark }) => {
        const lines = (entries: string[][], name: string) =>
          entries.flatMap((entry, i) => entry.map((line) => line.replace("KEY", `${name}${i}`)));
        const text = (line: string) =>
          mark +
          ["---", ...lines(before, "a"), line, ...lines(after, "b"), "---", body.replaceAll("\n", lineEnd)].join(
            lineEnd,
          );
        const { key, gap, value, tail } = date;

        const result = stamped(text(key + gap + value + tail));
        expect(result).toBe(text(key + gap + AT + tail));
        expect(stamped(result)).toBe("unchanged");
      }),
      { numRuns: runs(300) },
    );
  });

  it("adds one line if there is no date", () => {
    fc.assert(
      fc.property(frontMatter, ({ before, after, body, lineEnd, mark }) => {
        const entries = [...before, ...after].flatMap((entry, i) => entry.map((line) => line.replace("KEY", `a${i}`)));
        const rest = ["---", body.replaceAll("\n", lineEnd)];
        const text = mark + ["---", ...entries, ...rest].join(lineEnd);
        expect(stamped(text)).toBe(mark + ["---", ...entries, `date: ${AT}`, ...rest].join(lineEnd));
      }),
      { numRuns: runs(300) },
    );
  });

  it("refuses, or changes only the date that the parser reads", () => {
    const piece = fc.constantFrom(
      "---",
      "\n",
      "\r\n",
      "date:",
      " ",
      "2026-01-02",
      "  ",
      "a: ",
      "|",
      ">",
      '"',
      "'",
      "&a ",
      "*a",
      "- ",
      "{",
      "}",
      "#",
      "\uFEFF",
      "<<: ",
      "yaml",
      "\t",
      "...",
      "? ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const before = `---\n${pieces.join("")}\n---\nbody`;
        const after = stamped(before);
        if (after === "unchanged" || after.startsWith("refused: ")) return;
        const [{ data, content }, old] = [matter(after, { language: "yaml" }), matter(before, { language: "yaml" })];
        expect(data).toEqual({ ...old.data, date: new Date(AT) });
        expect(content).toBe(old.content);
        expect(Math.abs(after.split("\n").length - before.split("\n").length)).toBeLessThanOrEqual(1);
      }),
      { numRuns: runs(300) },
    );
  });
});
