// plugin/pictures/png.ts: removes metadata from PNG pictures. W3C, Portable Network Graphics, Third Edition
import { crc32 } from "node:zlib";
import { formatExif, readOrientation } from "./orientation.js";
import { damaged, hasAscii, type PictureParts } from "./parts.js";

const SIGNATURE_BYTES = 8;
/** Length and type before the data of a chunk, and the checksum after it. */
const FRAME_BYTES = 12;
/** The chunks that say how to show the picture, and those of animations. Texts, times and all others are removed. */
const KEPT = new Set(
  "IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP sBIT bKGD hIST pHYs cICP mDCV cLLI acTL fcTL fdAT".split(" "),
);

export function partsOfPng(bytes: Uint8Array): PictureParts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kept: Uint8Array[] = [];
  if (!hasAscii(bytes, SIGNATURE_BYTES + 4, "IHDR")) throw damaged();
  let orientation = 1;
  for (let at = SIGNATURE_BYTES; ; ) {
    if (at + FRAME_BYTES > bytes.length) throw damaged();
    const end = at + FRAME_BYTES + view.getUint32(at);
    if (end > bytes.length) throw damaged();
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (type === "eXIf") orientation = readOrientation(bytes.subarray(at + 8, end - 4));
    if (KEPT.has(type)) kept.push(bytes.subarray(at, end));
    // After the header: browsers ignore an orientation that comes after the pixels.
    if (type === "IEND" && orientation !== 1) kept.splice(1, 0, exifChunk(orientation));
    if (type === "IEND") return [bytes.subarray(0, SIGNATURE_BYTES), ...kept];
    at = end;
  }
}

function exifChunk(orientation: number): Uint8Array {
  const exif = formatExif(orientation);
  const chunk = new Uint8Array(FRAME_BYTES + exif.length);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, exif.length);
  chunk.set(new TextEncoder().encode("eXIf"), 4);
  chunk.set(exif, 8);
  view.setUint32(chunk.length - 4, crc32(chunk.subarray(4, -4)));
  return chunk;
}
