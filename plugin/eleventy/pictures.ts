// plugin/eleventy/pictures.ts: pictures in the front matter of notes.
import type { Picture } from "../text/text-from-post.js";
import type { CollectionItem } from "./eleventy.js";

/** Micropub servers write `photo`; themes read `image` and `featured`. */
const KEYS = ["photo", "image", "featured"];

/** A path, a web URL or a blob link, but not `featured: yes` or a `data:` URL. */
const LINK = /^(?:https?:|blob:|(?![a-z][a-z0-9+.-]*:))(?=.*(?:[/:]|\.[a-z0-9]{2,5}(?:[?#]|$)))/i;

/** The pictures of posts without a title. A twt with a title links to the page, which shows the pictures. */
export async function picturesOfNotes(posts: readonly CollectionItem[]): Promise<Map<CollectionItem, Picture[]>> {
  const notes = posts.filter(({ data }) => !data.title && picturesOf(data).length > 0);
  const pictures = notes.map(async (note) => {
    const own = await note.template?.getFrontMatterData();
    return [note, picturesOf(own?.data ?? {})] as const;
  });
  return new Map(await Promise.all(pictures));
}

/**
 * The pictures of a note, in the order of the keys `photo`, `image` and `featured`.
 *
 * @param frontMatter - the note's own front matter, because a picture from the data cascade is not specific to the note
 * @example picturesOf({ photo: [{ value: "/quinces.jpg", alt: "Quinces" }] }) // [{ url: "/quinces.jpg", alt: "Quinces" }]
 */
export function picturesOf(frontMatter: Record<string, unknown>): Picture[] {
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
