// plugin/pictures/orientation.ts: the orientation of a picture in its Exif data.

/** The tag of the orientation; a SHORT. */
const ORIENTATION = 0x0112;
const SHORT = 3;
const ENTRY_BYTES = 12;

/**
 * Reads the orientation.
 *
 * @param exif - the TIFF structure of Exif, perhaps after `Exif\0\0`
 * @returns 1 to 8; 1, upright, also if there is none or the data is damaged
 */
export function readOrientation(exif: Uint8Array): number {
  const start = exif[0] === 0x45 ? 6 : 0;
  const view = new DataView(exif.buffer, exif.byteOffset, exif.byteLength);
  try {
    const isLittleEndian = view.getUint16(start) === 0x4949;
    const entries = start + view.getUint32(start + 4, isLittleEndian);
    const count = view.getUint16(entries, isLittleEndian);
    for (let at = entries + 2; at < entries + 2 + count * ENTRY_BYTES; at += ENTRY_BYTES) {
      if (view.getUint16(at, isLittleEndian) !== ORIENTATION) continue;
      const orientation = view.getUint16(at + 8, isLittleEndian);
      return orientation >= 1 && orientation <= 8 ? orientation : 1;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return 1;
}

/** Exif data with nothing but an orientation, as a TIFF structure. */
export function formatExif(orientation: number): Uint8Array {
  const bytes = new Uint8Array(26);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x4d4d002a);
  view.setUint32(4, 8);
  view.setUint16(8, 1);
  view.setUint16(10, ORIENTATION);
  view.setUint16(12, SHORT);
  view.setUint32(14, 1);
  view.setUint16(18, orientation);
  return bytes;
}
