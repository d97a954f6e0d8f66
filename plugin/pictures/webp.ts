// plugin/pictures/webp.ts: removes metadata from WebP pictures. RFC 9649
import { formatExif, readOrientation } from "./orientation.js";
import { damaged, type PictureParts } from "./parts.js";

const HEADER_BYTES = 12;
/** The type and the size before the data of a chunk. */
const FRAME_BYTES = 8;
/** The fields of an animation frame before its own chunks. */
const ANIMATION_FRAME_BYTES = 16;
const KEPT = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ICCP"]);
/** Flags of the chunk VP8X. */
const HAS_EXIF = 0x08;
const HAS_XMP = 0x04;

interface Chunk {
  type: string;
  data: Uint8Array;
}

export function partsOfWebp(bytes: Uint8Array): PictureParts {
  const size = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(4, true);
  if (8 + size > bytes.length) throw damaged();
  const chunks = readChunks(bytes.subarray(HEADER_BYTES, 8 + size));
  if (!chunks.some(({ type }) => type.startsWith("VP8") || type === "ANMF")) throw damaged();
  const exif = chunks.find(({ type }) => type === "EXIF");
  const orientation = exif ? readOrientation(exif.data) : 1;
  const kept = chunks.flatMap((chunk) => keptChunk(chunk, orientation));
  const added = orientation === 1 ? [] : chunkParts({ type: "EXIF", data: formatExif(orientation) });
  return [formatHeader([...kept, ...added]), ...kept, ...added];
}

function keptChunk({ type, data }: Chunk, orientation: number): Uint8Array[] {
  if (type === "ANMF") {
    const inner = readChunks(data.subarray(ANIMATION_FRAME_BYTES)).filter((chunk) => KEPT.has(chunk.type));
    const parts = [data.subarray(0, ANIMATION_FRAME_BYTES), ...inner.flatMap(chunkParts)];
    return [frame(type, sumSizes(parts)), ...parts];
  }
  if (!KEPT.has(type)) return [];
  return chunkParts({ type, data: type === "VP8X" ? withFlags(data, orientation !== 1) : data });
}

function withFlags(data: Uint8Array, hasExif: boolean): Uint8Array {
  const flags = ((data[0] ?? 0) & ~(HAS_EXIF | HAS_XMP)) | (hasExif ? HAS_EXIF : 0);
  return Uint8Array.from([flags, ...data.subarray(1)]);
}

function readChunks(bytes: Uint8Array): Chunk[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunks: Chunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + FRAME_BYTES > bytes.length) throw damaged();
    const start = at + FRAME_BYTES;
    const end = start + view.getUint32(at + 4, true);
    if (end > bytes.length) throw damaged();
    chunks.push({ type: String.fromCharCode(...bytes.subarray(at, at + 4)), data: bytes.subarray(start, end) });
    at = end + (end & 1);
  }
  return chunks;
}

function formatHeader(parts: PictureParts): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  header.set(frame("RIFF", 4 + sumSizes(parts)));
  header.set(new TextEncoder().encode("WEBP"), FRAME_BYTES);
  return header;
}

function chunkParts({ type, data }: Chunk): Uint8Array[] {
  return [frame(type, data.length), data, new Uint8Array(data.length & 1)];
}

function frame(type: string, size: number): Uint8Array {
  const bytes = new Uint8Array(FRAME_BYTES);
  bytes.set(new TextEncoder().encode(type));
  new DataView(bytes.buffer).setUint32(4, size, true);
  return bytes;
}

function sumSizes(parts: PictureParts): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
