// plugin/eleventy/unknown-mentions.ts: what looks like a mention in a post, and names no feed.

/** Mentions of a build that notify no one, with the files that they are in. */
export class UnknownMentions {
  readonly #files = new Map<string, Set<string>>();

  /** @param file - the input path of a page; `undefined` where it is not known */
  note(mention: string, file: string | undefined): void {
    if (file === undefined) return;
    const files = this.#files.get(mention);
    if (files) files.add(file);
    else this.#files.set(mention, new Set([file]));
  }

  /**
   * What was noted since the last call.
   *
   * @param posts - the input paths of the feed's posts: on other pages, an `@name` notifies no one anyway
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
