import { describe, expect, it } from "vitest";
import { type JsonText, JsonTexts } from "../../../plugin/mentions/receive/json-texts.js";

describe("the JSON of mentions in memory", () => {
  it("is read as it was written, from whatever block", () => {
    const lines = Array.from({ length: 5000 }, (_, i) => JSON.stringify({ id: i, text: `Grüße ${i}` }));
    const buffer = Buffer.from(lines.join("\n"));
    let end = -1;
    const packed = lines.map((line): JsonText => {
      const start = end + 1;
      end = start + Buffer.byteLength(line);
      return { buffer, isPacked: false, start, end };
    });
    const texts = new JsonTexts();
    texts.pack(packed);

    expect(packed.map((text) => texts.read(text).toString())).toEqual(lines);
    expect(packed.toReversed().map((text) => texts.read(text).toString())).toEqual(lines.toReversed());
    expect(new Set(packed.map((text) => text.buffer)).size).toBeGreaterThan(100);
  });
});
