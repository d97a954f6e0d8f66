// plugin/eleventy/posts/pictures.ts: pictures of notes: those in the front matter, and files beside a note.
import { copyFile, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Picture } from "../../text/text-from-post.js";
import type { CollectionItem } from "../eleventy.js";

/** Micropub servers write `photo`; themes read `image` and `featured`. */
const KEYS = ["photo", "image", "featured"];

/** A path, a web URL or a blob link, but not `featured: yes` or a `data:` URL. */
const LINK = /^(?:https?:|blob:|(?![a-z][a-z0-9+.-]*:))(?=.*(?:[/:]|\.[a-z0-9]{2,5}(?:[?#]|$)))/i;

/** The pictures of posts without a title. A twt with a title links to the page, which shows the pictures. */
export async function picturesOfNotes(posts: readonly CollectionItem[]): Promise<Map<CollectionItem, Picture[]>> {
  const notes = posts.filter(({ data }) => !data.title && readPictures(data).length > 0);
  const pictures = notes.map(async (note) => {
    const own = await note.template?.getFrontMatterData();
    return [note, readPictures(own?.data ?? {})] as const;
  });
  return new Map(await Promise.all(pictures));
}

/**
 * The pictures of a note, in the order of the keys `photo`, `image` and `featured`.
 *
 * @param frontMatter - the note's own front matter, because a picture from the data cascade is not specific to the note
 * @example readPictures({ photo: [{ value: "/quinces.jpg", alt: "Quinces" }] }) // [{ url: "/quinces.jpg", alt: "Quinces" }]
 */
export function readPictures(frontMatter: Record<string, unknown>): Picture[] {
  return KEYS.flatMap((key) => [frontMatter[key]].flat()).flatMap(readPicture);
}

function readPicture(value: unknown): Picture[] {
  const fields = typeof value === "string" ? { value } : Object(value);
  const found = [fields.value, fields.url, fields.src].find(
    (link) => typeof link === "string" && LINK.test(link.trim()),
  );
  const alt = typeof fields.alt === "string" ? fields.alt.replace(/\s+/g, " ").trim() : "";
  return found ? [{ url: found.trim(), alt }] : [];
}

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
  const pictures = posts.filter(({ data }) => !data.title).flatMap((note) => picturesBeside(note, output));
  const copied = await Promise.all(
    pictures.map(async ({ source, target }) =>
      (await copyIfNewer(join(root, source), join(root, target))) ? [target] : [],
    ),
  );
  return copied.flat();
}

function picturesBeside(note: CollectionItem, output: string) {
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
