import { randomBytes } from "node:crypto";
import { poly1305 } from "@noble/ciphers/_poly1305.js";
import { u32 } from "@noble/ciphers/utils.js";
import { describe, expect, it } from "vitest";
import { ADDRESSES, boxModule } from "../../../plugin/messages/saltpack/box-module.js";
import { nobleBoxes } from "../../../plugin/messages/saltpack/primitives.js";
import { factorLimbs, tagOf, wasmBoxes } from "../../../plugin/messages/saltpack/wasm-boxes.js";
import { hex } from "./vectors.js";

const SLAB = 2 ** 16;
const SIZES = [0, 1, 15, 16, 17, 31, 32, 33, 223, 224, 225, 479, 480, 481, 4096];
const SLAB_SIZES = [SLAB - 33, SLAB - 32, SLAB - 31, SLAB, 2 * SLAB - 32, 2 * SLAB - 31, 2 ** 20 + 64];

const random = (size: number) => new Uint8Array(randomBytes(size));

function boxes() {
  const found = wasmBoxes();
  if (found === null) throw new Error("This runtime cannot run the WebAssembly module.");
  return found;
}

describe("secret boxes in WebAssembly", () => {
  const compiled = boxes();

  it.each([...SIZES, ...SLAB_SIZES])("equal secret boxes in JavaScript: %i bytes", (size) => {
    const [key, nonce, content] = [random(32), random(24), random(size)];
    const box = nobleBoxes.close(key, nonce, content);
    expect(Buffer.compare(compiled.close(key, nonce, content), box)).toBe(0);
    expect(Buffer.compare(compiled.open(key, nonce, box) ?? random(1), content)).toBe(0);
  });

  it("do not open if a byte of the tag, content, key or nonce is changed", () => {
    const [key, nonce] = [random(32), random(24)];
    const box = compiled.close(key, nonce, random(SLAB + 100));
    const changed = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
    for (const at of [0, 15, 16, 16 + SLAB - 32, box.length - 1]) {
      expect(compiled.open(key, nonce, changed(box, at))).toBeNull();
    }
    expect(compiled.open(changed(key, 31), nonce, box)).toBeNull();
    for (const at of [0, 23]) expect(compiled.open(key, changed(nonce, at), box)).toBeNull();
    expect(compiled.open(key, nonce, box.subarray(0, -1))).toBeNull();
    expect(compiled.open(key, nonce, box.subarray(0, 15))).toBeNull();
    expect(compiled.open(key, nonce, box)).not.toBeNull();
  });
});

const ZEROS = "00".repeat(16);
const FULL = "ff".repeat(16);
const ONE = `01${"00".repeat(15)}`;
const TWO = `02${"00".repeat(15)}`;
const SPARSE = "01000000000000000400000000000000";
const CARRIED = `e33594d7505e43b9${"00".repeat(8)}3394d7505e4379cd01${"00".repeat(7)}`;

/** RFC 8439, A.3, vectors 7 and later: sums close to 2^130 - 5, which random tests do not reach. */
const EDGES = [
  { r: TWO, s: ZEROS, data: FULL, tag: `03${"00".repeat(15)}` },
  { r: TWO, s: FULL, data: TWO, tag: `03${"00".repeat(15)}` },
  { r: ONE, s: ZEROS, data: `${FULL}f0${"ff".repeat(15)}11${"00".repeat(15)}`, tag: `05${"00".repeat(15)}` },
  { r: ONE, s: ZEROS, data: `${FULL}fb${"fe".repeat(15)}${"01".repeat(16)}`, tag: ZEROS },
  { r: TWO, s: ZEROS, data: `fd${"ff".repeat(15)}`, tag: `fa${"ff".repeat(15)}` },
  { r: SPARSE, s: ZEROS, data: `${CARRIED}${ZEROS}${ONE}`, tag: `14${"00".repeat(7)}55${"00".repeat(7)}` },
  { r: SPARSE, s: ZEROS, data: `${CARRIED}${ZEROS}`, tag: `13${"00".repeat(15)}` },
];

describe("Poly1305 in WebAssembly", () => {
  const { WebAssembly: runtime } = globalThis as unknown as {
    WebAssembly: Record<"Module" | "Instance", new (from: object) => { exports: Exports }>;
  };
  const module = new runtime.Module(boxModule());

  function tag(key: Uint8Array, data: Uint8Array): Uint8Array {
    const { memory, authenticate } = new runtime.Instance(module).exports;
    const limbs = (address: number) => new BigUint64Array(memory.buffer, address, 5);
    limbs(ADDRESSES.factor).set(factorLimbs(u32(key)).map(BigInt));
    new Uint8Array(memory.buffer).set(data, ADDRESSES.data);
    authenticate(ADDRESSES.data, ADDRESSES.data + data.length, 2 ** 24);
    return tagOf([...limbs(ADDRESSES.sum)].map(Number), u32(key));
  }

  it.each(EDGES)("RFC 8439, A.3: $tag", ({ r, s, data, tag: expected }) => {
    expect(Buffer.from(tag(hex(r + s), hex(data))).toString("hex")).toBe(expected);
  });

  it("equals Poly1305 in JavaScript for the largest and smallest limbs", () => {
    for (const [r, data] of [FULL, ZEROS].flatMap((r) => [FULL, ZEROS].map((data) => [r, data] as const))) {
      const [key, bytes] = [hex(r + FULL), hex(data.repeat(100))];
      expect(tag(key, bytes)).toEqual(poly1305(bytes, key));
    }
  });
});

interface Exports {
  memory: { buffer: ArrayBuffer };
  authenticate(start: number, end: number, top: number): void;
}
