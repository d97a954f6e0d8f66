// plugin/messages/saltpack/wasm-code.ts: assembles the WebAssembly instructions of the box module.

/** An expression, which leaves one value on the stack, or a statement, which leaves none. */
export type Code = readonly number[];
type Operator = (a: Code, b: Code) => Code;

export const TYPES = { i32: 0x7f, i64: 0x7e, v128: 0x7b };

export const get = (local: number): Code => [0x20, local];
export const set = (local: number, value: Code): Code => [...value, 0x21, local];

export const i32 = (value: number): Code => [0x41, ...signed(value)];
export const i32Add = operator(0x6a);
export const i32IsBelow = operator(0x49);

export const i64 = (value: number): Code => [0x42, ...signed(value)];
export const i64From = (value: Code): Code => [...value, 0xad];
export const i64Add = operator(0x7c);
export const i64Multiply = operator(0x7e);
export const i64And = operator(0x83);
export const i64Or = operator(0x84);
export const i64ShiftRight = operator(0x88);
export const i64Load = (address: Code, offset: number): Code => [...address, 0x29, 0, ...unsigned(offset)];
/** Loads 32 bits. */
export const i64LoadShort = (address: Code, offset: number): Code => [...address, 0x35, 0, ...unsigned(offset)];
export const i64Store = (address: Code, offset: number, value: Code): Code => [
  ...[...address, ...value],
  ...[0x37, 0, ...unsigned(offset)],
];

/** Vectors of four lanes of 32 bits. */
export const lanesFrom = (value: Code): Code => [...value, ...simd(0x11)];
export const lanesAdd = operator(...simd(0xae));
export const lanesXor = operator(...simd(0x51));
export const lanesOr = operator(...simd(0x50));
export const lanesShiftLeft = operator(...simd(0xab));
export const lanesShiftRight = operator(...simd(0xad));
export const lanesLoad = (address: Code, offset: number): Code => [...address, ...simd(0x00), 0, ...unsigned(offset)];
export const lanesStore = (address: Code, offset: number, value: Code): Code => [
  ...[...address, ...value],
  ...[...simd(0x0b), 0, ...unsigned(offset)],
];
/** @param order - four lanes: 0 to 3 of `a`, 4 to 7 of `b` */
export const lanesPick = (a: Code, b: Code, order: readonly number[]): Code => [
  ...[...a, ...b, ...simd(0x0d)],
  ...order.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte)),
];

/** Runs the statements once, then repeats them while the condition is true. */
export const repeatWhile = (condition: Code, statements: readonly Code[]): Code => [
  ...[0x03, 0x40, ...statements.flat()],
  ...[...condition, 0x0d, 0, 0x0b],
];

interface WasmFunction {
  name: string;
  /** Number of parameters, all of type i32. They are the first local variables. */
  parameters: number;
  /** The other local variables: the number of each type. */
  locals: readonly (readonly [count: number, type: number])[];
  statements: readonly Code[];
}

/**
 * Creates a module of functions without results. Their memory is exported as `memory`.
 *
 * @param pages - size of the memory, in 64 KiB
 * @see webassembly.github.io/spec/core/binary/modules.html
 */
export function wasmModule(pages: number, functions: readonly WasmFunction[]): Uint8Array {
  const types = functions.map(({ parameters }) => [
    0x60,
    ...vector(Array.from({ length: parameters }, () => [TYPES.i32])),
    0,
  ]);
  const bodies = functions.map(({ locals, statements }) => sized([...vector(locals), ...statements.flat(), 0x0b]));
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(
      3,
      functions.map((_, index) => [index]),
    ),
    ...section(5, [[1, pages, pages]]),
    ...section(7, [[...text("memory"), 2, 0], ...functions.map(({ name }, index) => [...text(name), 0, index])]),
    ...section(10, bodies),
  ]);
}

function operator(...code: Code): Operator {
  return (a, b) => [...a, ...b, ...code];
}

function simd(code: number): Code {
  return [0xfd, ...unsigned(code)];
}

function section(id: number, items: readonly Code[]): Code {
  return [id, ...sized(vector(items))];
}

function sized(bytes: Code): Code {
  return [...unsigned(bytes.length), ...bytes];
}

function vector(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()];
}

function text(name: string): Code {
  return sized([...new TextEncoder().encode(name)]);
}

/** LEB128, here and below. */
function unsigned(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  return value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}
