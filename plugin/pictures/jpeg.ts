// plugin/pictures/jpeg.ts: removes metadata from JPEG pictures. ITU-T T.81, Annex B
import { formatExif, readOrientation } from "./orientation.js";
import { damaged, hasAscii, type PictureParts } from "./parts.js";

const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP14 = 0xee;
const APP15 = 0xef;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Reserved markers and comments. */
const FIRST_EXTENSION = 0xf0;
/** The fields of a JFIF segment before its thumbnail. */
const JFIF_BYTES = 16;

/**
 * Keeps what is needed to show the picture: frames, tables, scans, the color profile and the orientation. Bytes after the end
 * of the picture are removed, too: phones store films and further pictures there.
 */
export function partsOfJpeg(bytes: Uint8Array): PictureParts {
  const kept: Uint8Array[] = [];
  let jfif: Uint8Array = new Uint8Array();
  let orientation = 1;
  for (let at = 2; ; ) {
    const { marker, start, end } = readSegment(bytes, at);
    const segment = bytes.subarray(start, end);
    if (marker === END_OF_IMAGE) return [bytes.subarray(0, 2), jfif, orientationSegment(orientation), ...kept, segment];
    if (marker === APP0 && hasAscii(segment, 4, "JFIF\0")) jfif = withoutThumbnail(segment);
    else if (marker === APP1 && hasAscii(segment, 4, "Exif\0\0")) orientation = readOrientation(segment.subarray(10));
    else if (isKept(marker, segment)) kept.push(segment);
    at = marker === START_OF_SCAN ? endOfScan(bytes, end) : end;
    if (marker === START_OF_SCAN) kept.push(bytes.subarray(end, at));
  }
}

function isKept(marker: number, segment: Uint8Array): boolean {
  if (marker === APP2) return hasAscii(segment, 4, "ICC_PROFILE\0");
  if (marker === APP14) return hasAscii(segment, 4, "Adobe");
  return marker < APP0 || (marker > APP15 && marker < FIRST_EXTENSION);
}

/** A marker, with its length and data if it has these. Fill bytes before it are skipped. */
function readSegment(bytes: Uint8Array, at: number): { marker: number; start: number; end: number } {
  if (bytes[at] !== 0xff) throw damaged();
  let start = at;
  while (bytes[start + 1] === 0xff) start += 1;
  const marker = bytes[start + 1] ?? 0;
  if (marker === END_OF_IMAGE || marker === 0x01) return { marker, start, end: start + 2 };
  const length = ((bytes[start + 2] ?? 0) << 8) | (bytes[start + 3] ?? 0);
  const end = start + 2 + length;
  if (marker < 0xc0 || length < 2 || end > bytes.length) throw damaged();
  return { marker, start, end };
}

/** The position of the marker after compressed data, in which 0xFF is followed by 0, by a restart marker or by another 0xFF. */
function endOfScan(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    const isData = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
    if (!isData) return at;
  }
  throw damaged();
}

/** A thumbnail may show what was cropped from the picture. */
function withoutThumbnail(segment: Uint8Array): Uint8Array {
  if (segment.length < JFIF_BYTES + 2) throw damaged();
  // A copy: `slice` of a Buffer would change the picture that was given.
  const header = Uint8Array.from(segment.subarray(0, JFIF_BYTES + 2));
  header.set([0, JFIF_BYTES], 2);
  header.set([0, 0], JFIF_BYTES);
  return header;
}

function orientationSegment(orientation: number): Uint8Array {
  if (orientation === 1) return new Uint8Array();
  const exif = formatExif(orientation);
  const name = new TextEncoder().encode("Exif\0\0");
  return Uint8Array.from([0xff, APP1, 0, 2 + name.length + exif.length, ...name, ...exif]);
}
