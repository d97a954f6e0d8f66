// plugin/author/timeline/strangers-picture.ts: pictures in the texts of others, which the author asks to see.
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { MAX_PICTURE_BYTES, pictureToShow } from "../../pictures/picture-to-show.js";
import type { CleanPicture } from "../../pictures/remove-metadata.js";
import { isWeb } from "../../site/safe-markup.js";

/** An image in Markdown. */
const IMAGE = /!\[((?:\\.|[^\\\]])*)\]\((https?:[^\s()<>]+)[^()]*\)/gi;
const MAX_PICTURES = 8;

/** The pictures that a text names, each once; at most 8. A description may be empty. */
export function namedPictures(text: string): { url: string; description: string }[] {
  const all = [...text.matchAll(IMAGE)].map(([, description = "", url = ""]) => ({ url, description }));
  const byUrl = new Map(all.filter(({ url }) => isWeb(url)).map((picture) => [picture.url, picture]));
  return [...byUrl.values()].slice(0, MAX_PICTURES);
}

/** Reads a picture. @throws TwtxtError as {@link pictureToShow} and as the guard; `too-large` for more than 10 MiB */
export async function readPicture(url: string, ask: Ask, signal: AbortSignal): Promise<CleanPicture> {
  const response = await ask(url, { maxBytes: MAX_PICTURE_BYTES, signal, headers: { accept: "image/*" } });
  if (response.status !== 200) {
    response.close();
    throw new TwtxtError("unreachable", `${url} answers ${response.status}.`);
  }
  return pictureToShow(await response.bytes(), url);
}
