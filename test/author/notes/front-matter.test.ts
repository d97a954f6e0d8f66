import { describe, expect, it } from "vitest";
import { writeField } from "../../../plugin/author/notes/front-matter.js";

describe("a field of the front matter", () => {
  it.each([
    ["title: Quinces # draft", 'title: "Ripe: quinces" # draft'],
    ['title: "Quinces # 2" # draft', 'title: "Ripe: quinces" # draft'],
    ["'title' :   'It''s # 2'  ", "'title' :   \"Ripe: quinces\"  "],
    ["title: # none yet", 'title: "Ripe: quinces" # none yet'],
  ])("gets a new value, and its line keeps the rest: %s", (before, after) => {
    const text = (line: string) => `---\nlayout: post\n${line}\n---\ntitle: in the text\n`;
    expect(writeField(text(before), "title", "Ripe: quinces")?.text).toBe(text(after));
  });

  it("is added in the form of its file: line ends, and a byte order mark", () => {
    expect(writeField("\uFEFFHello\r\n", "twt", "deleted")?.text).toBe("\uFEFF---\r\ntwt: deleted\r\n---\r\nHello\r\n");
    expect(writeField("---\r\na: 1\r\n---\r\n", "date", new Date("2026-01-02T03:04:05Z"))?.text).toBe(
      "---\r\na: 1\r\ndate: 2026-01-02T03:04:05Z\r\n---\r\n",
    );
  });
});
