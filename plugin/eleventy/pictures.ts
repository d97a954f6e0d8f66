// plugin/eleventy/pictures.ts: the pictures that a note names in its front matter.

/** `photo` is what Micropub servers write; `image` and `featured` are what themes read. */
const KEYS = ["photo", "image", "featured"];

/** A path or a URL of the web or of a blob. `featured: yes` names no picture, and `data:` is not a link. */
const LINK = /^(?:https?:|blob:|(?![a-z][a-z0-9+.-]*:))(?=.*(?:[/:]|\.[a-z0-9]{2,5}(?:[?#]|$)))/i;

export interface Picture {
  /** As the front matter has it: absolute, or relative to the page. */
  url: string;
  alt: string;
}

/**
 * The pictures of a note, in the order of the keys `photo`, `image` and `featured`.
 *
 * @param frontMatter - the note's own: a picture that the data cascade gives to every page says nothing about the note
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
