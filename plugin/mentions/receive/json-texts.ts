// plugin/mentions/receive/json-texts.ts: the JSON of mentions in memory, compressed in blocks.
import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Texts that are compressed together, to a fifth of their size. Reading one of them takes some 30 µs. */
const BLOCK = 32;
/** Blocks that stay decompressed after reading: lists are read repeatedly. */
const OPEN_BLOCKS = 64;

/** A text in a buffer with others. */
export interface JsonText {
  buffer: Buffer;
  isPacked: boolean;
  /** From the start of the decompressed buffer, in bytes. */
  start: number;
  end: number;
}

/** Reads texts, packed or not. */
export class JsonTexts {
  /** The least recently read first. */
  readonly #open = new Map<Buffer, Buffer>();

  read({ buffer, isPacked, start, end }: JsonText): Buffer {
    return (isPacked ? this.#unpack(buffer) : buffer).subarray(start, end);
  }

  #unpack(packed: Buffer): Buffer {
    const bytes = this.#open.get(packed) ?? inflateRawSync(packed);
    this.#open.delete(packed);
    this.#open.set(packed, bytes);
    const [oldest] = this.#open.keys();
    if (oldest && this.#open.size > OPEN_BLOCKS) this.#open.delete(oldest);
    return bytes;
  }

  /** Compresses texts in place. @param texts - one after the other in one buffer, which is not packed */
  pack(texts: readonly JsonText[]): void {
    for (let at = 0; at < texts.length; at += BLOCK) {
      const block = texts.slice(at, at + BLOCK);
      const [from, to] = [block[0]?.start ?? 0, block.at(-1)?.end];
      // Copied, because the result is a part of a larger buffer.
      const buffer = Buffer.from(deflateRawSync(block[0]?.buffer.subarray(from, to) ?? "", { level: 1 }));
      for (const text of block) {
        Object.assign(text, { buffer, isPacked: true, start: text.start - from, end: text.end - from });
      }
    }
  }
}
