// plugin/messages/saltpack/msgpack.ts: the few forms of MessagePack that occur in a sealed message.
import { TwtxtError } from "../../errors.js";

type Kind = "array" | "bin" | "boolean" | "str" | "uint" | "other";

/** The beginning of an object. */
interface Head {
  kind: Kind;
  /** How many bytes of its own follow. */
  size: number;
  /** How many objects it holds. */
  items: number;
  /** A number of up to 64 bits, not exact beyond 2^53; 1 for true, 0 for false. */
  value: number;
}

/** Reads object after object. Every method throws `bad-message` for another form, or one that goes beyond the end. */
export interface Reader {
  /** @returns how many objects follow that belong to it */
  array(): number;
  /** @returns a view of the bytes read */
  bin(): Uint8Array;
  boolean(): boolean;
  text(): string;
  uint(): number;
  /** Passes over whole objects of any form. */
  skip(count: number): void;
  isAtEnd(): boolean;
}

/**
 * Reads strictly as to type and end, and leniently as to lengths that a shorter form could have held, as the reference
 * does. Allocates nothing in proportion to what a length says.
 *
 * @see github.com/msgpack/msgpack/blob/master/spec.md
 */
export function messagePackReader(bytes: Uint8Array): Reader {
  let at = 0;

  function take(size: number): Uint8Array {
    if (size > bytes.length - at) throw badMessage("it is cut");
    at += size;
    return bytes.subarray(at - size, at);
  }

  function bigEndian(size: number): number {
    let number = 0;
    for (const byte of take(size)) number = number * 256 + byte;
    return number;
  }

  function next(): Head {
    return headOf(bigEndian(1), bigEndian);
  }

  function expect(kind: Kind): Head {
    const found = next();
    if (found.kind === kind) return found;
    throw badMessage(`something in it is not of the type ${kind}`);
  }

  return {
    array: () => expect("array").items,
    bin: () => take(expect("bin").size),
    boolean: () => expect("boolean").value === 1,
    text: () => new TextDecoder().decode(take(expect("str").size)),
    uint: () => expect("uint").value,
    skip: (count) => {
      // A count, not recursion: how deep a stranger nests is the stranger's choice.
      for (let left = count; left > 0; left -= 1) {
        const { size, items } = next();
        take(size);
        left += items;
      }
    },
    isAtEnd: () => at === bytes.length,
  };
}

/**
 * In the order of the specification's table. Most forms come in a row, with lengths of 1, 2, 4 and 8 bytes.
 *
 * @param bigEndian - reads the next bytes as a number
 */
function headOf(first: number, bigEndian: (size: number) => number): Head {
  if (first < 0x80) return head("uint", { value: first });
  if (first < 0x90) return head("other", { items: 2 * (first & 0x0f) });
  if (first < 0xa0) return head("array", { items: first & 0x0f });
  if (first < 0xc0) return head("str", { size: first & 0x1f });
  if (first === 0xc0) return head("other", {});
  if (first === 0xc1) throw badMessage("it holds a byte that begins nothing");
  if (first < 0xc4) return head("boolean", { value: first & 1 });
  if (first < 0xc7) return head("bin", { size: bigEndian(2 ** (first - 0xc4)) });
  if (first < 0xca) return head("other", { size: bigEndian(2 ** (first - 0xc7)) + 1 });
  if (first < 0xcc) return head("other", { size: 2 ** (first - 0xc8) });
  if (first < 0xd0) return head("uint", { value: bigEndian(2 ** (first - 0xcc)) });
  if (first < 0xd4) return head("other", { size: 2 ** (first - 0xd0) });
  if (first < 0xd9) return head("other", { size: 2 ** (first - 0xd4) + 1 });
  if (first < 0xdc) return head("str", { size: bigEndian(2 ** (first - 0xd9)) });
  if (first < 0xde) return head("array", { items: bigEndian(2 ** (first - 0xdb)) });
  if (first < 0xe0) return head("other", { items: 2 * bigEndian(2 ** (first - 0xdd)) });
  return head("other", {});
}

function head(kind: Kind, { size = 0, items = 0, value = 0 }: Partial<Head>): Head {
  return { kind, size, items, value };
}

export const FALSE = 0xc2;
export const TRUE = 0xc3;

/** @param count - at most 65,535 */
export function arrayHead(count: number): Uint8Array {
  return count < 16 ? Uint8Array.of(0x90 | count) : Uint8Array.of(0xdc, count >> 8, count);
}

/** @param size - how many bytes follow, below 2^32 */
export function binHead(size: number): Uint8Array {
  if (size < 2 ** 8) return Uint8Array.of(0xc4, size);
  if (size < 2 ** 16) return Uint8Array.of(0xc5, size >> 8, size);
  return Uint8Array.of(0xc6, size >> 24, size >> 16, size >> 8, size);
}

/** A fault in a message's form, told to whoever sent it. */
export function badMessage(why: string): TwtxtError {
  return new TwtxtError("bad-message", `This is not a sealed message in order: ${why}.`);
}
