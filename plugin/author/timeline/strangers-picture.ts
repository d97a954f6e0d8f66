// plugin/author/timeline/strangers-picture.ts: pictures in the texts of others, which the author asks to see.
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { dimensionsOf } from "../../pictures/dimensions.js";
import { type CleanPicture, removeMetadata } from "../../pictures/remove-metadata.js";
import { isWeb } from "../../site/safe-markup.js";

const MAX_BYTES = 5 * 2 ** 20;
/** A browser needs four bytes for each pixel. */
const MAX_PIXELS = 50_000_000;
/** An image in Markdown. */
const IMAGE = /!\[((?:\\.|[^\\\]])*)\]\((https?:[^\s()<>]+)[^()]*\)/gi;
const MAX_PICTURES = 8;

/** A picture that a text names. */
interface NamedPicture {
  url: string;
  /** Empty for none. */
  description: string;
}

/** The pictures in a text, each once; at most 8. */
export function namedPictures(text: string): NamedPicture[] {
  const all = [...text.matchAll(IMAGE)].map(([, description = "", url = ""]) => ({ url, description }));
  const byUrl = new Map(all.filter(({ url }) => isWeb(url)).map((picture) => [picture.url, picture]));
  return [...byUrl.values()].slice(0, MAX_PICTURES);
}

/** Reads a picture. @throws TwtxtError as {@link pictureToShow} and as the guard; `too-large` for more than 5 MiB */
export async function readPicture(url: string, ask: Ask, signal: AbortSignal): Promise<CleanPicture> {
  const response = await ask(url, { maxBytes: MAX_BYTES, signal, headers: { accept: "image/*" } });
  if (response.status !== 200) {
    response.close();
    throw new TwtxtError("unreachable", `${url} answers ${response.status}.`);
  }
  return pictureToShow(await response.bytes(), url);
}

/**
 * A picture without all that is not needed to show it. What it is, its bytes say, not its server or its name.
 *
 * @param name - of the picture, for messages
 * @throws TwtxtError `bad-file` for anything but a whole JPEG, PNG, WebP or GIF of at most 5 MiB and 50 megapixels
 */
export function pictureToShow(bytes: Uint8Array, name: string): CleanPicture {
  if (bytes.length > MAX_BYTES) throw new TwtxtError("bad-file", `${name} is not shown: it is too large.`);
  const picture = cleanOf(bytes, name);
  const { width, height } = dimensionsOf(picture);
  if (width * height <= MAX_PIXELS) return picture;
  throw new TwtxtError("bad-file", `${name} is not shown: ${width} × ${height} pixels are too many.`);
}

function cleanOf(bytes: Uint8Array, name: string): CleanPicture {
  try {
    return removeMetadata(bytes, name);
  } catch (cause) {
    if (!(cause instanceof TwtxtError)) throw cause;
    throw new TwtxtError("bad-file", `${name} is no complete picture in the format JPEG, PNG, WebP or GIF.`, { cause });
  }
}
