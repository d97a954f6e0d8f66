// plugin/eleventy/findings.ts: texts that a build finds in pages and names in its warnings.
import { remember } from "../groups.js";
import { fillIn } from "../options/words.js";

/** How many files or texts a warning names; the others are counted. */
const NAMED = 5;

/** Texts by page, such as broken links. */
export class Findings {
  readonly #files = new Map<string, Set<string>>();

  /** @param file - the input path of a page; `undefined` if unknown */
  note(text: string, file: string | undefined): void {
    if (file !== undefined) remember(this.#files, text, () => new Set()).add(file);
  }

  /** Returns and clears the texts with the input paths of their pages. */
  take(): { text: string; files: string[] }[] {
    const found = [...this.#files].map(([text, files]) => ({ text, files: [...files] }));
    this.#files.clear();
    return found;
  }
}

/**
 * A sentence about pages.
 *
 * @param sentence - has `{files}` for the list of their files, and `{count}` for their count, such as "2 posts"
 * @returns one sentence; none if there are no pages
 */
export function sentenceAbout(pages: readonly { inputPath: string }[], sentence: string, limit = NAMED): string[] {
  if (pages.length === 0) return [];
  const files = [...new Set(pages.map(({ inputPath }) => inputPath))];
  const values = { files: listed(files, limit), count: posts(files.length) };
  return [fillIn(sentence, values)];
}

/** The first sentences, and the number of the others. */
export function shorten(sentences: string[]): string[] {
  const more = sentences.length - NAMED;
  return more > 0 ? [...sentences.slice(0, NAMED), `And ${more} more.`] : sentences;
}

/** The first names of a list, and the number of the others. */
export function listed(names: readonly string[], limit = NAMED): string {
  const more = names.length - limit;
  return names.slice(0, limit).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

export function posts(count: number): string {
  return count === 1 ? "1 post" : `${count} posts`;
}
