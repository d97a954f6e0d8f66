import { describe, expect, it } from "vitest";
import { JsonTexts, packBlock } from "../../../plugin/mentions/receive/json-texts.js";

describe("the JSON of mentions in blocks", () => {
  it("is read as it was written, from whatever block", () => {
    const lines = Array.from({ length: 5000 }, (_, i) => JSON.stringify({ id: i, text: `Grüße ${i}` }));
    const blocks: Buffer[] = [];
    for (let at = 0; at < lines.length; at += 7) blocks.push(packBlock(lines.slice(at, at + 7).map(Buffer.from)));
    const texts = new JsonTexts();
    const packed = [...texts.readBlocks(Buffer.concat(blocks))].flat();

    expect(packed.map((text) => texts.read(text).toString())).toEqual(lines);
    expect(packed.toReversed().map((text) => texts.read(text).toString())).toEqual(lines.toReversed());
    expect(new Set(packed.map((text) => text.buffer)).size).toBe(blocks.length);
  });
});
