import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../plugin/errors.js";
import { readDimensions } from "../../plugin/pictures/dimensions.js";
import { removeMetadata } from "../../plugin/pictures/remove-metadata.js";

const FILES = new URL("files/", import.meta.url);
const names = readdirSync(FILES).sort();
const cleaned = (name: string) => removeMetadata(readFileSync(new URL(name, FILES)), name);

describe("the dimensions of a picture", () => {
  it.each(names)("are read from its header: %s", (name) => {
    expect(readDimensions(cleaned(name))).toEqual({ width: 24, height: 16 });
  });

  it("bad-file: a truncated header", () => {
    for (const type of ["image/png", "image/gif", "image/webp", "image/jpeg"] as const) {
      expect(() => readDimensions({ bytes: new Uint8Array(4), type })).toThrow(TwtxtError);
    }
  });
});
