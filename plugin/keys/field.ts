// plugin/keys/field.ts: arithmetic modulo 2^255 - 19, the field of Curve25519. For public values only: its time depends on them.

export const PRIME = 2n ** 255n - 19n;

/**
 * Whether a number has a square root in the field. Computes the Jacobi symbol, ten times as fast as a square root.
 *
 * @param number - not negative, and no multiple of the prime
 * @see en.wikipedia.org/wiki/Jacobi_symbol
 */
export function isSquare(number: bigint): boolean {
  let isResidue = true;
  let [top, bottom] = [number % PRIME, PRIME];
  while (top !== 0n) {
    const twos = trailingZeros(top);
    top >>= BigInt(twos);
    const [a, b] = [Number(BigInt.asUintN(3, top)), Number(BigInt.asUintN(3, bottom))];
    if (twos % 2 === 1 && (b === 3 || b === 5)) isResidue = !isResidue;
    if (a % 4 === 3 && b % 4 === 3) isResidue = !isResidue;
    [top, bottom] = [bottom % top, top];
  }
  return isResidue;
}

function trailingZeros(number: bigint): number {
  const low = Number(BigInt.asUintN(31, number));
  return low === 0 ? 31 + trailingZeros(number >> 31n) : 31 - Math.clz32(low & -low);
}

/**
 * The inverse of a number, by the extended Euclidean algorithm.
 *
 * @param number - above 0, and no multiple of the prime
 */
export function inverse(number: bigint): bigint {
  let [a, b] = [number % PRIME, PRIME];
  let [x, y] = [1n, 0n];
  while (a !== 0n) {
    const quotient = b / a;
    [a, b] = [b - quotient * a, a];
    [x, y] = [y - quotient * x, x];
  }
  return y < 0n ? y + PRIME : y;
}
