// plugin/mentions/receive/json-texts.ts: the JSON of mentions, compressed in blocks, in memory as in the store.
//
// Each block is a line for each text, deflated, after its length in bytes as an unsigned integer of 32 bits, big-endian.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { RecentValues } from "../../groups.js";
import type { StoredMention } from "../mention.js";

/** Texts that are compressed together, to a fifth of their size. Reading one of them takes some 30 µs. */
export const BLOCK = 32;
/** Where {@link toJson} writes the id. */
const ID_START = '{"id":"'.length;
const ID_LENGTH = 32;
const LENGTH_BYTES = 4;
const NEW_LINE = 0x0a;
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
  readonly #open = new RecentValues<Buffer, Buffer>(OPEN_BLOCKS);

  read({ buffer, isPacked, start, end }: JsonText): Buffer {
    return (isPacked ? this.#unpack(buffer) : buffer).subarray(start, end);
  }

  /** Yields the texts of one block after the other. They stay packed in `bytes`. @param bytes - results of {@link packBlock} */
  *readBlocks(bytes: Uint8Array): Generator<JsonText[]> {
    const blocks = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < blocks.length; ) {
      const start = at + LENGTH_BYTES;
      at = start + blocks.readUInt32BE(at);
      const buffer = blocks.subarray(start, at);
      // Not a spread, which V8 keeps in two objects.
      yield findLines(this.#unpack(buffer)).map(({ start, end }) => ({ buffer, isPacked: true, start, end }));
    }
  }

  #unpack(packed: Buffer): Buffer {
    return this.#open.use(packed, () => inflateRawSync(packed));
  }
}

/** Compresses texts into a block with its length. @param texts - at most {@link BLOCK} */
export function packBlock(texts: readonly Uint8Array[]): Buffer {
  const packed = deflateRawSync(Buffer.concat(texts.flatMap((text) => [text, Buffer.of(NEW_LINE)])));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(packed.length);
  return Buffer.concat([length, packed]);
}

/** The id comes first, see {@link readId}. */
export function toJson({ id, ...others }: StoredMention): JsonText {
  const buffer = Buffer.from(JSON.stringify({ id, ...others }));
  return { buffer, isPacked: false, start: 0, end: buffer.length };
}

/** The id of a mention in the JSON of {@link toJson}. */
export function readId(json: Buffer): string {
  return json.toString("latin1", ID_START, ID_START + ID_LENGTH);
}

function findLines(buffer: Buffer): Pick<JsonText, "start" | "end">[] {
  const lines: Pick<JsonText, "start" | "end">[] = [];
  let start = 0;
  for (let end = buffer.indexOf(NEW_LINE); end >= 0; end = buffer.indexOf(NEW_LINE, start)) {
    lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}
