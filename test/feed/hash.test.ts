import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";

interface Vector {
  url: string;
  timestamp: string;
  text: string;
  hash: string;
}
const { vectors } = JSON.parse(readFileSync(new URL("../vectors/twt-hash.json", import.meta.url), "utf8")) as {
  vectors: Vector[];
};

describe("the hash of a twt", () => {
  it.each(vectors)("$hash for $timestamp $text", ({ url, hash, ...twt }) => {
    expect(twtHash(url, twt)).toBe(hash);
  });
});
