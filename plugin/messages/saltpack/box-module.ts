// plugin/messages/saltpack/box-module.ts: a WebAssembly module with the inner loops of XSalsa20 and Poly1305.
//
// No branch and no address depends on a secret.
import * as wasm from "./wasm-code.js";

type Code = wasm.Code;

/** Addresses in memory, after the state of Salsa20 with each word four times. A limb takes eight bytes. */
export const ADDRESSES = { counter: 8 * 16, sum: 256, factor: 296, data: 512 };
/** `xor` processes four blocks at once. */
export const STEP_BYTES = 256;
const BLOCK_BYTES = 64;
/** Memory in pages of 64 KiB. */
const PAGES = 2;

const ZERO = wasm.i32(0);
const ROUNDS = 20;
/** A double round: columns, then rows. */
const QUARTERS = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

/**
 * - `xor(start, end)` adds the key stream to memory, in whole steps, and increases the counter.
 * - `authenticate(start, end, top)` adds blocks of 16 bytes to the sum of Poly1305, multiplying by the factor after each.
 *   `top` is added to the highest limb: 2^24 for whole blocks.
 */
export function boxModule(): Uint8Array {
  return wasm.wasmModule(PAGES, [
    { name: "xor", parameters: 2, locals: LOCALS_OF_XOR, statements: xorStatements() },
    { name: "authenticate", parameters: 3, locals: [[20, wasm.TYPES.i64]], statements: authenticateStatements() },
  ]);
}

const LOCALS_OF_XOR = [
  [1, wasm.TYPES.i32],
  [17, wasm.TYPES.v128],
] as const;
const SUM = 3;
const WORDS = range(16);

/** The local variable of a word. Lane n of its vector belongs to block n. */
function word(index: number): number {
  return 4 + index;
}

function xorStatements(): Code[] {
  const [at, end, round] = [0, 1, 2];
  const { get, set, i32, i32Add, i32IsBelow, lanesAdd, lanesLoad, lanesStore, lanesFrom } = wasm;
  const state = (index: number) => lanesLoad(ZERO, 16 * index);
  const counter = lanesLoad(ZERO, ADDRESSES.counter);
  return [
    wasm.repeatWhile(i32IsBelow(get(at), get(end)), [
      ...WORDS.map((index) => set(word(index), state(index))),
      set(round, ZERO),
      wasm.repeatWhile(i32IsBelow(get(round), i32(ROUNDS)), [
        ...QUARTERS.flatMap(quarterRound),
        set(round, i32Add(get(round), i32(2))),
      ]),
      ...WORDS.map((index) => set(word(index), lanesAdd(get(word(index)), state(index)))),
      ...range(4).flatMap((row) => range(4).map((block) => xorWords(get(at), row, block))),
      lanesStore(ZERO, ADDRESSES.counter, lanesAdd(counter, lanesFrom(i32(4)))),
      set(at, i32Add(get(at), i32(STEP_BYTES))),
    ]),
  ];
}

function quarterRound([a, b, c, d]: (typeof QUARTERS)[number]): Code[] {
  return [...rotateInto(b, a, d, 7), ...rotateInto(c, b, a, 9), ...rotateInto(d, c, b, 13), ...rotateInto(a, d, c, 18)];
}

/** `to ^= (a + b) <<< bits` */
function rotateInto(to: number, a: number, b: number, bits: number): Code[] {
  const { get, set, i32, lanesAdd, lanesXor, lanesOr, lanesShiftLeft, lanesShiftRight } = wasm;
  const rotated = lanesOr(lanesShiftLeft(get(SUM), i32(bits)), lanesShiftRight(get(SUM), i32(32 - bits)));
  return [set(SUM, lanesAdd(get(word(a)), get(word(b)))), set(word(to), lanesXor(get(word(to)), rotated))];
}

/** Adds four words of a block to memory. They come from one lane of four vectors. */
function xorWords(at: Code, row: number, block: number): Code {
  const { get, lanesPick } = wasm;
  const offset = BLOCK_BYTES * block + 16 * row;
  const pair = (index: number) =>
    lanesPick(get(word(index)), get(word(index + 1)), [block, block + 4, block, block + 4]);
  const words = lanesPick(pair(4 * row), pair(4 * row + 2), [0, 1, 4, 5]);
  return wasm.lanesStore(at, offset, wasm.lanesXor(wasm.lanesLoad(at, offset), words));
}

const LIMBS = range(5);
export const LIMB_BITS = 26;
const MASK = wasm.i64(2 ** LIMB_BITS - 1);

/** Local variables of `authenticate`. */
const sum = (limb: number) => 3 + limb;
const factor = (limb: number) => 8 + limb;
const fiveTimes = (limb: number) => 13 + limb;
const product = (limb: number) => 18 + limb;

function authenticateStatements(): Code[] {
  const [at, end, top] = [0, 1, 2];
  const { get, set, i32, i32Add, i64, i64Add, i64Multiply } = wasm;
  const load = (address: number, limb: number) => wasm.i64Load(ZERO, address + 8 * limb);
  return [
    ...LIMBS.map((limb) => set(sum(limb), load(ADDRESSES.sum, limb))),
    ...LIMBS.map((limb) => set(factor(limb), load(ADDRESSES.factor, limb))),
    ...LIMBS.map((limb) => set(fiveTimes(limb), i64Multiply(get(factor(limb)), i64(5)))),
    wasm.repeatWhile(wasm.i32IsBelow(get(at), get(end)), [
      ...LIMBS.map((limb) => set(sum(limb), i64Add(get(sum(limb)), limbOfBlock(get(at), limb, get(top))))),
      ...LIMBS.map((limb) => set(product(limb), productLimb(limb))),
      ...range(4).flatMap((limb) => carry(limb, limb + 1, 1)),
      ...carry(4, 0, 5),
      ...carry(0, 1, 1),
      ...LIMBS.map((limb) => set(sum(limb), get(product(limb)))),
      set(at, i32Add(get(at), i32(16))),
    ]),
    ...LIMBS.map((limb) => wasm.i64Store(ZERO, ADDRESSES.sum + 8 * limb, get(sum(limb)))),
  ];
}

function limbOfBlock(at: Code, limb: number, top: Code): Code {
  const { i64, i64And, i64Or, i64From, i64ShiftRight, i64LoadShort } = wasm;
  if (limb === 4) return i64Or(i64ShiftRight(i64LoadShort(at, 12), i64(8)), i64From(top));
  return i64And(i64ShiftRight(i64LoadShort(at, 3 * limb), i64(2 * limb)), MASK);
}

/** Modulo 2^130 - 5, an overflow of the highest limb is added to the lowest, times five. */
function productLimb(limb: number): Code {
  const factorOf = (index: number) => (index <= limb ? factor(limb - index) : fiveTimes(5 + limb - index));
  return LIMBS.map((index) => wasm.i64Multiply(wasm.get(sum(index)), wasm.get(factorOf(index)))).reduce((a, b) =>
    wasm.i64Add(a, b),
  );
}

function carry(from: number, to: number, times: number): Code[] {
  const { get, set, i64, i64Add, i64And, i64Multiply, i64ShiftRight } = wasm;
  const over = i64ShiftRight(get(product(from)), i64(LIMB_BITS));
  return [
    set(product(to), i64Add(get(product(to)), i64Multiply(over, i64(times)))),
    set(product(from), i64And(get(product(from)), MASK)),
  ];
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
