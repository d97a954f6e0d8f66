import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { twtHash } from "../../plugin/feed/hash.js";
import { hashedForm } from "../../plugin/feed/timestamp.js";

interface Vector {
  url: string;
  timestamp: string;
  text: string;
  hash: string;
}

function vectorsOf<T extends Vector>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8")).vectors;
}

const vectors = vectorsOf("twt-hash");
const offsets = vectorsOf<Vector & { hashed: string }>("hash-offsets");

describe("the hash of a twt", () => {
  it.each(vectors)("$hash for $timestamp $text", ({ url, hash, ...twt }) => {
    expect(twtHash(url, twt)).toBe(hash);
  });

  it.each(offsets)("$hash for $timestamp, hashed as $hashed", ({ url, hash, hashed, ...twt }) => {
    expect(hashedForm(twt.timestamp)).toBe(hashed);
    expect(twtHash(url, twt)).toBe(hash);
  });
});
