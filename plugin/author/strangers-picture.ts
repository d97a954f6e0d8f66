// plugin/author/strangers-picture.ts: pictures in the texts of others, which the author asks to see.
import { TwtxtError } from "../errors.js";
import type { Ask } from "../http/guard.js";
import { dimensionsOf } from "../pictures/dimensions.js";
import { type CleanPicture, removeMetadata } from "../pictures/remove-metadata.js";
import { isWeb } from "../site/safe-markup.js";

const MAX_BYTES = 5 * 2 ** 20;
/** A browser needs four bytes for each pixel. */
const MAX_PIXELS = 50_000_000;
/** An image in Markdown. */
const IMAGE = /!\[((?:\\.|[^\\\]])*)\]\((https?:[^\s()<>]+)[^()]*\)/gi;
const MAX_PICTURES = 8;

/** A picture that a text names. */
export interface NamedPicture {
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

/**
 * Reads a picture, and removes all that is not needed to show it. What it is, its bytes say, not its server.
 *
 * @throws TwtxtError `bad-file` for anything but a whole JPEG, PNG, WebP or GIF of at most 5 MiB and 50 megapixels, and as the
 *   guard
 */
export async function readPicture(url: string, ask: Ask, signal: AbortSignal): Promise<CleanPicture> {
  const response = await ask(url, { maxBytes: MAX_BYTES, signal, headers: { accept: "image/*" } });
  if (response.status !== 200) {
    response.close();
    throw new TwtxtError("unreachable", `${url} answers ${response.status}.`);
  }
  const picture = cleanOf(await response.bytes(), url);
  const { width, height } = dimensionsOf(picture);
  if (width * height <= MAX_PIXELS) return picture;
  throw new TwtxtError("bad-file", `${url} is not shown: ${width} × ${height} pixels are too many.`);
}

function cleanOf(bytes: Uint8Array, url: string): CleanPicture {
  try {
    return removeMetadata(bytes, url);
  } catch (cause) {
    if (!(cause instanceof TwtxtError)) throw cause;
    throw new TwtxtError("bad-file", `${url} is no complete picture in the format JPEG, PNG, WebP or GIF.`, { cause });
  }
}
