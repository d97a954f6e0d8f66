// plugin/messages/saltpack/poly1305.ts: the beginning and the end of Poly1305, whose sum is in five limbs of 26 bits.
//
// No branch depends on a secret.

const LIMB_BITS = 26;
const LIMB_MASK = 2 ** LIMB_BITS - 1;

/**
 * The factor of Poly1305, with the bits cleared that RFC 8439, section 2.5.1, names.
 *
 * @param key - 32 bytes as eight words; only the first four are used here
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
 * The sum modulo 2^130 - 5, plus the second half of the key.
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
  // Plus 5 it overflows if it is not below 2^130 - 5. What is left then is the difference.
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
