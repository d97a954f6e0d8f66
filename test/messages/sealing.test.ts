import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { nobleBoxes } from "../../plugin/messages/saltpack/primitives.js";
import { loadLibsodiumBoxes } from "../../plugin/messages/sealing.js";

const CHUNK = 2 ** 16;
const SIZES = [0, 1, 15, 16, 17, 31, 32, 33, 4096, CHUNK - 32, CHUNK, 2 ** 20 + 64];

const random = (size: number) => new Uint8Array(randomBytes(size));

describe("secret boxes by libsodium", () => {
  it.each(SIZES)("equal those in JavaScript: %i bytes", async (size) => {
    const libsodium = await loadLibsodiumBoxes();
    const [key, nonce, content] = [random(32), random(24), random(size)];
    const box = nobleBoxes.close(key, nonce, content);

    expect(Buffer.compare(libsodium.close(key, nonce, content), box)).toBe(0);
    expect(Buffer.compare(libsodium.open(key, nonce, box) ?? random(1), content)).toBe(0);
  });

  it("do not open if a byte of the tag, content, key or nonce is changed, or if the end is missing", async () => {
    const { open, close } = await loadLibsodiumBoxes();
    const [key, nonce] = [random(32), random(24)];
    const box = close(key, nonce, random(CHUNK + 100));
    const change = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));

    for (const at of [0, 15, 16, CHUNK - 16, box.length - 1]) expect(open(key, nonce, change(box, at))).toBeNull();
    expect(open(change(key, 31), nonce, box)).toBeNull();
    for (const at of [0, 23]) expect(open(key, change(nonce, at), box)).toBeNull();
    for (const end of [box.length - 1, 15, 0]) expect(open(key, nonce, box.subarray(0, end))).toBeNull();
    expect(open(key, nonce, box)).not.toBeNull();
  });
});
