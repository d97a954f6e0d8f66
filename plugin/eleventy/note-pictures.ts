// plugin/eleventy/note-pictures.ts: copies pictures beside notes to the pages of the notes, if the site does not do so itself.
import { copyFile, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CollectionItem } from "./eleventy.js";

/** Pictures in a rendered body that are linked by their file name alone. */
const BESIDE = /<img\b[^<>]*?\ssrc="([^"<>/\\?#:&%]+\.(?:jpe?g|png|webp|gif))"/gi;

/**
 * Copies the pictures of notes, so that a note and its picture need no configuration of the site. A picture of the site at the
 * same path stays, unless it is older than its source.
 *
 * @param output - the output folder, from the project's root
 * @returns the files that were written, from the project's root
 */
export async function copyNotePictures(
  posts: readonly CollectionItem[],
  { root, output }: { root: string; output: string },
): Promise<string[]> {
  const pictures = posts.filter(({ data }) => !data.title).flatMap((note) => picturesOf(note, output));
  const copied = await Promise.all(
    pictures.map(async ({ source, target }) =>
      (await copyIfNewer(join(root, source), join(root, target))) ? [target] : [],
    ),
  );
  return copied.flat();
}

function picturesOf(note: CollectionItem, output: string) {
  const { url, inputPath } = note;
  // An incremental build has no content of posts that it does not render again.
  if (url === false || !url.endsWith("/") || note.template?.isRenderable() === false) return [];
  const names = new Set([...String(note.templateContent ?? "").matchAll(BESIDE)].map(([, name = ""]) => name));
  return [...names].map((name) => ({
    source: join(dirname(inputPath), name),
    target: join(output, url, name),
  }));
}

async function copyIfNewer(source: string, target: string): Promise<boolean> {
  const [from, to] = await Promise.all([source, target].map((file) => stat(file).catch(() => null)));
  if (!from?.isFile() || (to && to.mtimeMs >= from.mtimeMs)) return false;
  await mkdir(dirname(target), { recursive: true });
  await copyFile(source, target);
  return true;
}
