// plugin/eleventy/unknown-mentions.ts: texts in posts that look like mentions but name no known feed.

/** Collects such texts during a build, with their files. */
export class UnknownMentions {
  readonly #files = new Map<string, Set<string>>();

  /** @param file - the input path of a page; `undefined` if unknown */
  note(mention: string, file: string | undefined): void {
    if (file === undefined) return;
    const files = this.#files.get(mention);
    if (files) files.add(file);
    else this.#files.set(mention, new Set([file]));
  }

  /**
   * Returns and clears the collected texts.
   *
   * @param posts - input paths of the feed's posts: mentions on other pages are never sent
   */
  take(posts: ReadonlySet<string>): { mention: string; files: string[] }[] {
    const found = [...this.#files].map(([mention, files]) => ({
      mention,
      files: [...files].filter((file) => posts.has(file)),
    }));
    this.#files.clear();
    return found.filter(({ files }) => files.length > 0);
  }
}
