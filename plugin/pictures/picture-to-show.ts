// plugin/pictures/picture-to-show.ts: the pictures that the client shows: their formats and limits.
import { TwtxtError } from "../errors.js";
import { readDimensions } from "./dimensions.js";
import { type CleanPicture, removeMetadata } from "./remove-metadata.js";

/** Larger pictures are not shown. */
export const MAX_PICTURE_BYTES = 10 * 2 ** 20;
/** A browser needs four bytes for each pixel. */
const MAX_PIXELS = 50_000_000;

/**
 * A picture without all that is not needed to show it. What it is, its bytes say, not its server or its name.
 *
 * @param name - of the picture, for messages
 * @throws TwtxtError `bad-file` for anything but a whole JPEG, PNG, WebP or GIF of at most 10 MiB and 50 megapixels
 */
export function pictureToShow(bytes: Uint8Array, name: string): CleanPicture {
  if (bytes.length > MAX_PICTURE_BYTES) throw new TwtxtError("bad-file", `${name} is not shown: it is too large.`);
  const picture = cleanPicture(bytes, name);
  const { width, height } = readDimensions(picture);
  if (width * height <= MAX_PIXELS) return picture;
  throw new TwtxtError("bad-file", `${name} is not shown: ${width} × ${height} pixels are too many.`);
}

function cleanPicture(bytes: Uint8Array, name: string): CleanPicture {
  try {
    return removeMetadata(bytes, name);
  } catch (cause) {
    if (!(cause instanceof TwtxtError)) throw cause;
    throw new TwtxtError("bad-file", `${name} is no complete picture in the format JPEG, PNG, WebP or GIF.`, { cause });
  }
}
