// plugin/pictures/gif.ts: removes metadata from GIF pictures: comments, XMP and other extensions. GIF89a specification
import { damaged, hasAscii, type PictureParts } from "./parts.js";

const HEADER_BYTES = 13;
const IMAGE_BYTES = 10;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;

export function partsOfGif(bytes: Uint8Array): PictureParts {
  let at = HEADER_BYTES + colorTableBytes(bytes[10] ?? 0);
  const kept: Uint8Array[] = [bytes.subarray(0, at)];
  while (bytes[at] !== TRAILER) {
    const end = endOfBlock(bytes, at);
    if (bytes[at] === IMAGE || isNeeded(bytes, at)) kept.push(bytes.subarray(at, end));
    at = end;
  }
  return [...kept, bytes.subarray(at, at + 1)];
}

/** Whether an extension is needed to show the picture: transparency and timing, and the number of repetitions. */
function isNeeded(bytes: Uint8Array, at: number): boolean {
  if (bytes[at + 1] === GRAPHIC_CONTROL) return true;
  return (
    bytes[at + 1] === APPLICATION && (hasAscii(bytes, at + 3, "NETSCAPE2.0") || hasAscii(bytes, at + 3, "ANIMEXTS1.0"))
  );
}

function endOfBlock(bytes: Uint8Array, at: number): number {
  if (bytes[at] === EXTENSION) return endOfSubBlocks(bytes, at + 2);
  if (bytes[at] !== IMAGE) throw damaged();
  // The minimum code size of the compression comes before the compressed data.
  return endOfSubBlocks(bytes, at + IMAGE_BYTES + colorTableBytes(bytes[at + 9] ?? 0) + 1);
}

/** Sub-blocks start with their length; one of length 0 is the last. */
function endOfSubBlocks(bytes: Uint8Array, start: number): number {
  for (let at = start; ; ) {
    const length = bytes[at];
    if (length === undefined) throw damaged();
    at += 1 + length;
    if (length === 0) return at;
  }
}

function colorTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}
