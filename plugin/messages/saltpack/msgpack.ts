// plugin/messages/saltpack/msgpack.ts: the MessagePack types that occur in a sealed message.
import { TwtxtError } from "../../errors.js";

/** One for all, because making one takes longer than reading a message's texts. */
const DECODER = new TextDecoder();

type Kind = "array" | "bin" | "boolean" | "str" | "uint" | "other";

/** The first bytes of an object. */
interface Head {
  kind: Kind;
  /** Number of bytes of content. */
  size: number;
  /** Number of objects in it. */
  items: number;
  /** An integer, not exact above 2^53; 1 for true, 0 for false. */
  value: number;
}

/**
 * Reads one object after another. Other types and truncated objects throw TwtxtError `bad-message`; lengths in a longer form
 * than necessary are accepted, as in the reference. Allocates nothing in proportion to a claimed length.
 *
 * @see github.com/msgpack/msgpack/blob/master/spec.md
 */
export class MessagePackReader {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** @returns the number of objects in the array, which follow */
  array(): number {
    return this.#expect("array").items;
  }

  /** @returns a view */
  bin(): Uint8Array {
    return this.#take(this.#expect("bin").size);
  }

  boolean(): boolean {
    return this.#expect("boolean").value === 1;
  }

  text(): string {
    return DECODER.decode(this.#take(this.#expect("str").size));
  }

  uint(): number {
    return this.#expect("uint").value;
  }

  /** Skips objects of any type. Not recursive, since a sender chooses the depth. */
  skip(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      const { size, items } = this.#next();
      this.#take(size);
      left += items;
    }
  }

  isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  #expect(kind: Kind): Head {
    const found = this.#next();
    if (found.kind === kind) return found;
    throw badMessage(`expected the MessagePack type ${kind}`);
  }

  #next(): Head {
    const bigEndian = (size: number) => this.#take(size).reduce((number, byte) => number * 256 + byte, 0);
    return readHead(bigEndian(1), bigEndian);
  }

  #take(size: number): Uint8Array {
    if (size > this.bytes.length - this.#at) throw badMessage("it is truncated");
    this.#at += size;
    return this.bytes.subarray(this.#at - size, this.#at);
  }
}

/**
 * In the order of the table in the specification. Most types come in a row, with lengths of 1, 2, 4 and 8 bytes.
 *
 * @param bigEndian - reads the next bytes as a number
 */
function readHead(first: number, bigEndian: (size: number) => number): Head {
  if (first < 0x80) return head("uint", { value: first });
  if (first < 0x90) return head("other", { items: 2 * (first & 0x0f) });
  if (first < 0xa0) return head("array", { items: first & 0x0f });
  if (first < 0xc0) return head("str", { size: first & 0x1f });
  if (first === 0xc0) return head("other", {});
  if (first === 0xc1) throw badMessage("it contains an unused MessagePack type");
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

/** @param count - at most 65,535 */
export function arrayHead(count: number): Uint8Array {
  return count < 16 ? Uint8Array.of(0x90 | count) : Uint8Array.of(0xdc, count >> 8, count);
}

/** @param size - of the content, below 2^32 */
export function binHead(size: number): Uint8Array {
  if (size < 2 ** 8) return Uint8Array.of(0xc4, size);
  if (size < 2 ** 16) return Uint8Array.of(0xc5, size >> 8, size);
  return Uint8Array.of(0xc6, size >> 24, size >> 16, size >> 8, size);
}

/** @returns parts, to be joined without copying twice */
export function bin(bytes: Uint8Array): [Uint8Array, Uint8Array] {
  return [binHead(bytes.length), bytes];
}

export function boolean(value: boolean): Uint8Array {
  return Uint8Array.of(value ? 0xc3 : 0xc2);
}

export function badMessage(why: string): TwtxtError {
  return new TwtxtError("bad-message", `This is not a valid sealed message: ${why}.`);
}
