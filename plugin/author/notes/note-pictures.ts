// plugin/author/notes/note-pictures.ts: pictures in the text of a note, linked by their file name alone.
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A link or an image in Markdown, or an image in HTML: what comes before the name, and the name. */
const LINK = /(\]\(|\ssrc=")([^\s"'<>()/\\?#:&%]+\.(?:jpe?g|png|webp|gif))(?=[\s")])/gi;
/** An image in Markdown with the space after it: its description and its name. */
const IMAGE = /!\[((?:\\.|[^\\\]])*)\]\(([^\s()]+)[^()]*\) ?/g;

/** The pictures that a text shows or links to by their file name alone, each once. */
export function findPictures(text: string): string[] {
  return [...new Set([...text.matchAll(LINK)].map(([, , name = ""]) => name))];
}

/**
 * Replaces links to pictures.
 *
 * @param linkOf - the new link by the file name; `undefined` to leave a link as it is
 */
export function linkPictures(text: string, linkOf: (name: string) => string | undefined): string {
  return text.replace(LINK, (_, before: string, name: string) => before + (linkOf(name) ?? name));
}

/** The description of a picture in a text. @returns `null` if the text does not show the picture */
export function findDescription(name: string, text: string): string | null {
  const image = [...text.matchAll(IMAGE)].find(([, , shown]) => shown === name);
  return image === undefined ? null : (image[1] ?? "").replace(/\\(.)/g, "$1");
}

/** @example formatImage("a red square", "picture-1.jpg") // "![a red square](picture-1.jpg)" */
export function formatImage(description: string, link: string): string {
  return `![${escapedDescription(description)}](${link})`;
}

/** Describes a picture where the text shows it without a description. */
export function describePicture(text: string, name: string, description: string): string {
  const described = `![${escapedDescription(description)}]`;
  return text.replace(IMAGE, (image, old: string, shown: string) =>
    shown === name && old.trim() === "" ? described + image.slice(image.indexOf("](") + 1) : image,
  );
}

function escapedDescription(description: string): string {
  return description
    .trim()
    .replace(/\s+/g, " ")
    .replace(/[\\[\]]/g, "\\$&");
}

/**
 * Inserts an image: within a line between spaces, elsewhere as a paragraph of its own.
 *
 * @param at - the position of the cursor
 * @returns the new text, and the position after the image
 */
export function insertImage(text: string, at: number, image: string): { text: string; at: number } {
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const isInLine = /[^\n]$/.test(before) && /^[^\n]/.test(after);
  const gap = isInLine ? " " : "\n\n";
  const start = isInLine ? before.replace(/ $/, "") : before.trimEnd();
  const end = isInLine ? after.replace(/^ /, "") : after.trimStart();
  const shown = start === "" ? image : start + gap + image;
  return { text: end === "" ? shown : shown + gap + end, at: shown.length };
}

/** Removes the images of a picture from a text. */
export function withoutPicture(text: string, name: string): string {
  return text
    .replace(IMAGE, (image, _description, shown: string) => (shown === name ? "" : image))
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The files beside a note that its text shows or links to. @param note - absolute */
export async function picturesBeside(note: string, text: string): Promise<string[]> {
  const files = findPictures(text).map((name) => join(dirname(note), name));
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return files.filter((_, at) => found[at]?.isFile());
}
