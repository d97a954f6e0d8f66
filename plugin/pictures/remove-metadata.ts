// plugin/pictures/remove-metadata.ts: removes location data and all other metadata from a picture.
import { TwtxtError } from "../errors.js";
import { partsOfGif } from "./gif.js";
import { partsOfJpeg } from "./jpeg.js";
import { hasAscii, type PictureParts } from "./parts.js";
import { partsOfPng } from "./png.js";
import { partsOfWebp } from "./webp.js";

/** A picture without metadata. */
export interface CleanPicture {
  bytes: Uint8Array;
  type: "image/jpeg" | "image/png" | "image/webp" | "image/gif";
  /** The end of its file name, such as ".jpg". */
  extension: ".jpg" | ".png" | ".webp" | ".gif";
}

interface Format extends Omit<CleanPicture, "bytes"> {
  matches(bytes: Uint8Array): boolean;
  readParts(bytes: Uint8Array): PictureParts;
}

const FORMATS: readonly Format[] = [
  {
    type: "image/jpeg",
    extension: ".jpg",
    matches: ([a, b, c]) => a === 0xff && b === 0xd8 && c === 0xff,
    readParts: partsOfJpeg,
  },
  {
    type: "image/png",
    extension: ".png",
    matches: (bytes) => bytes[0] === 0x89 && hasAscii(bytes, 1, "PNG\r\n\x1a\n"),
    readParts: partsOfPng,
  },
  {
    type: "image/webp",
    extension: ".webp",
    matches: (bytes) => hasAscii(bytes, 0, "RIFF") && hasAscii(bytes, 8, "WEBP"),
    readParts: partsOfWebp,
  },
  {
    type: "image/gif",
    extension: ".gif",
    matches: (bytes) => hasAscii(bytes, 0, "GIF87a") || hasAscii(bytes, 0, "GIF89a"),
    readParts: partsOfGif,
  },
];

/** The media types of pictures whose metadata can be removed. */
export const CLEANED_TYPES: readonly string[] = FORMATS.map(({ type }) => type);

const SAVE_AS = "Save it as JPEG, PNG or WebP, then add it again.";

/** The media type of a picture without metadata, by the end of its file name. */
export function typeOfExtension(extension: string): string | null {
  return FORMATS.find((format) => format.extension === extension)?.type ?? null;
}

/**
 * Removes location data, times, texts, thumbnails, and all other data that is not needed to show the picture. Its pixels are not
 * changed; its color profile, orientation and animation are kept.
 *
 * @param name - of the file, for messages
 * @throws TwtxtError `bad-file` for a damaged picture, and for other formats
 */
export function removeMetadata(bytes: Uint8Array, name: string): CleanPicture {
  const format = FORMATS.find(({ matches }) => matches(bytes));
  if (!format) throw new TwtxtError("bad-file", `${name} ${describeFault(bytes)}`);
  try {
    const { type, extension } = format;
    return { bytes: Buffer.concat(format.readParts(bytes)), type, extension };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    throw new TwtxtError(error.code, `${name} ${error.message}`, { cause: error });
  }
}

function describeFault(bytes: Uint8Array): string {
  const isIso = hasAscii(bytes, 4, "ftyp");
  if (bytes.length === 0) return "is empty. Choose another file.";
  if (isIso && ["heic", "heix", "mif1"].some((brand) => hasAscii(bytes, 8, brand))) {
    return `is a HEIC picture, which most browsers do not show. ${SAVE_AS}`;
  }
  if (isIso && hasAscii(bytes, 8, "avif"))
    return `is an AVIF picture, whose location data cannot be removed. ${SAVE_AS}`;
  const start = new TextDecoder().decode(bytes.subarray(0, 1024));
  if (/^\uFEFF?\s*</.test(start) && start.includes("<svg"))
    return `is an SVG drawing, which may contain scripts. ${SAVE_AS}`;
  return "is not a picture in the format JPEG, PNG, WebP or GIF. Choose one, or save yours in one of these formats.";
}
