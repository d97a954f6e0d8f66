// plugin/pictures/dimensions.ts: width and height of a picture, from its header.
import { damaged, hasAscii } from "./parts.js";
import type { CleanPicture } from "./remove-metadata.js";

/** In pixels. */
interface Dimensions {
  width: number;
  height: number;
}

/** Markers of JPEG from 0xC0 to 0xCF that are no frames: tables and an extension. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc];

/** @throws TwtxtError `bad-file` for a header that is incomplete */
export function readDimensions({ bytes, type }: Pick<CleanPicture, "bytes" | "type">): Dimensions {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (type === "image/png") return { width: view.getUint32(16), height: view.getUint32(20) };
    if (type === "image/gif") return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    return type === "image/webp" ? ofWebp(bytes, view) : ofJpeg(view);
  } catch (error) {
    if (error instanceof RangeError) throw damaged();
    throw error;
  }
}

function ofWebp(bytes: Uint8Array, view: DataView): Dimensions {
  if (hasAscii(bytes, 12, "VP8X")) {
    const side = (at: number) => (view.getUint32(at, true) & 0xffffff) + 1;
    return { width: side(24), height: side(27) };
  }
  if (hasAscii(bytes, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

function ofJpeg(view: DataView): Dimensions {
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
  }
}
