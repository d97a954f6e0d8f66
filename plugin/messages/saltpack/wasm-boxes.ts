// plugin/messages/saltpack/wasm-boxes.ts: secret boxes in WebAssembly, four times as fast as JavaScript if they are large.
//
// No branch depends on a secret.
import { equalBytes, isLE, u32 } from "@noble/ciphers/utils.js";
import { ADDRESSES, boxModule, LIMB_BITS, STEP_BYTES } from "./box-module.js";
import { type Boxes, hsalsa20, SIGMA } from "./primitives.js";

const TAG_BYTES = 16;
const POLY_KEY_BYTES = 32;
const HNONCE_BYTES = 16;
/** Bytes of content that are in the module's memory at once, which fit into the processor's cache. */
const SLAB_BYTES = 2 ** 16;
/** The bit that Poly1305 adds to a whole block, in the highest limb. */
const WHOLE_BLOCK = 2 ** 24;
const LIMBS = [0, 1, 2, 3, 4];
const FIRST_BLOCKS = [0, 1, 2, 3];

/** The part of `globalThis.WebAssembly` that is used here; it is not in the types of Node.js. */
interface Runtime {
  validate(code: Uint8Array): boolean;
  Module: new (code: Uint8Array) => object;
  Instance: new (module: object) => { exports: Exports };
}

/** The exports of {@link boxModule}. */
interface Exports {
  memory: { buffer: ArrayBuffer };
  xor(start: number, end: number): void;
  authenticate(start: number, end: number, top: number): void;
}

/** @returns `null` if this runtime has no WebAssembly with SIMD */
export function wasmBoxes(): Boxes | null {
  const { WebAssembly: runtime } = globalThis as { WebAssembly?: Runtime };
  const code = boxModule();
  if (!isLE || !runtime?.validate(code)) return null;
  return new WasmBoxes(new runtime.Instance(new runtime.Module(code)).exports);
}

class WasmBoxes implements Boxes {
  readonly #exports: Exports;
  readonly #bytes: Uint8Array;
  readonly #words: Uint32Array;

  constructor(exports: Exports) {
    this.#exports = exports;
    this.#bytes = new Uint8Array(exports.memory.buffer);
    this.#words = new Uint32Array(exports.memory.buffer);
  }

  close(key: Uint8Array, nonce: Uint8Array, content: Uint8Array): Uint8Array {
    const box = new Uint8Array(TAG_BYTES + content.length);
    box.set(this.#run("encrypt", key, nonce, content, box.subarray(TAG_BYTES)));
    return box;
  }

  open(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | null {
    if (box.length < TAG_BYTES) return null;
    const content = new Uint8Array(box.length - TAG_BYTES);
    const tag = this.#run("decrypt", key, nonce, box.subarray(TAG_BYTES), content);
    if (equalBytes(tag, box.subarray(0, TAG_BYTES))) return content;
    content.fill(0);
    return null;
  }

  /** @returns the tag of the encrypted bytes */
  #run(task: "encrypt" | "decrypt", key: Uint8Array, nonce: Uint8Array, from: Uint8Array, to: Uint8Array): Uint8Array {
    const polyKey = this.#start(key, nonce);
    // The first bytes of the key stream are the key of Poly1305.
    let skipped = POLY_KEY_BYTES;
    let at = 0;
    while (at < from.length) {
      const slab = from.subarray(at, at + SLAB_BYTES - skipped);
      const start = ADDRESSES.data + skipped;
      const end = start + slab.length;
      this.#bytes.set(slab, start);
      if (task === "decrypt") this.#authenticate(start, end);
      this.#exports.xor(ADDRESSES.data, end);
      to.set(this.#bytes.subarray(start, end), at);
      if (task === "encrypt") this.#authenticate(start, end);
      at += slab.length;
      skipped = 0;
    }
    const tag = tagOf(
      LIMBS.map((limb) => this.#words[ADDRESSES.sum / 4 + 2 * limb] ?? 0),
      polyKey,
    );
    polyKey.fill(0);
    this.#bytes.fill(0, 0, ADDRESSES.data + Math.min(SLAB_BYTES, from.length + POLY_KEY_BYTES + STEP_BYTES));
    return tag;
  }

  /** @returns the key of Poly1305 */
  #start(key: Uint8Array, nonce: Uint8Array): Uint32Array {
    const subkey = hsalsa20(key, nonce.subarray(0, HNONCE_BYTES));
    this.#setState(u32(subkey), u32(nonce.slice(HNONCE_BYTES)));
    subkey.fill(0);
    this.#exports.xor(ADDRESSES.data, ADDRESSES.data + STEP_BYTES);
    const polyKey = u32(this.#bytes.slice(ADDRESSES.data, ADDRESSES.data + POLY_KEY_BYTES));
    this.#words.set(FIRST_BLOCKS, ADDRESSES.counter / 4);
    for (const [limb, value] of factorLimbs(polyKey).entries()) this.#words[ADDRESSES.factor / 4 + 2 * limb] = value;
    return polyKey;
  }

  /** Stores each of the sixteen words four times, for the four blocks of a step. */
  #setState(key: Uint32Array, nonce: Uint32Array): void {
    const [s0 = 0, s1 = 0, s2 = 0, s3 = 0] = SIGMA;
    const [k0 = 0, k1 = 0, k2 = 0, k3 = 0, k4 = 0, k5 = 0, k6 = 0, k7 = 0] = key;
    const [n0 = 0, n1 = 0] = nonce;
    const state = [s0, k0, k1, k2, k3, s1, n0, n1, 0, 0, s2, k4, k5, k6, k7, s3];
    for (let at = 0; at < 4 * state.length; at += 1) this.#words[at] = state[at >> 2] ?? 0;
    this.#words.set(FIRST_BLOCKS, ADDRESSES.counter / 4);
  }

  #authenticate(start: number, end: number): void {
    const whole = end - ((end - start) % TAG_BYTES);
    if (whole > start) this.#exports.authenticate(start, whole, WHOLE_BLOCK);
    if (whole === end) return;
    // A 1 is appended to the last block if it is not whole.
    const padded = whole + TAG_BYTES;
    this.#bytes[end] = 1;
    this.#bytes.fill(0, end + 1, padded);
    this.#exports.authenticate(whole, padded, 0);
  }
}

const LIMB_MASK = 2 ** LIMB_BITS - 1;

/**
 * The factor of Poly1305, in limbs of 26 bits. Some bits are cleared, see RFC 8439, section 2.5.1.
 *
 * @param key - 32 bytes as eight words; the first four are used
 */
export function factorLimbs([k0 = 0, k1 = 0, k2 = 0, k3 = 0]: Uint32Array): number[] {
  return [
    k0 & 0x3ffffff,
    ((k0 >>> 26) | (k1 << 6)) & 0x3ffff03,
    ((k1 >>> 20) | (k2 << 12)) & 0x3ffc0ff,
    ((k2 >>> 14) | (k3 << 18)) & 0x3f03fff,
    (k3 >>> 8) & 0x00fffff,
  ];
}

/**
 * The tag: the sum modulo 2^130 - 5, plus the second half of the key.
 *
 * @param sum - five limbs, below 2^27 each
 * @param key - 32 bytes as eight words
 * @returns 16 bytes
 */
export function tagOf(sum: readonly number[], key: Uint32Array): Uint8Array {
  const [h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0] = reduced(sum);
  const words = [h0 | (h1 << 26), (h1 >>> 6) | (h2 << 20), (h2 >>> 12) | (h3 << 14), (h3 >>> 18) | (h4 << 8)];
  let carry = 0;
  const tag = words.map((word, index) => {
    const total = (word >>> 0) + (key[4 + index] ?? 0) + carry;
    carry = Number(total >= 2 ** 32);
    return total;
  });
  return new Uint8Array(Uint32Array.from(tag).buffer);
}

function reduced(sum: readonly number[]): number[] {
  const first = carried(sum, 0);
  const { limbs } = carried(first.limbs, 5 * first.carry);
  // If it is not below 2^130 - 5, adding 5 overflows and leaves the difference.
  const { limbs: less, carry } = carried(limbs, 5);
  return limbs.map((limb, index) => (limb & (carry - 1)) | ((less[index] ?? 0) & -carry));
}

function carried(numbers: readonly number[], start: number): { limbs: number[]; carry: number } {
  let carry = start;
  const limbs = numbers.map((number) => {
    const sum = number + carry;
    carry = sum >>> LIMB_BITS;
    return sum & LIMB_MASK;
  });
  return { limbs, carry };
}
