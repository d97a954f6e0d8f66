// plugin/eleventy/posts/deleted-posts.ts: posts with `twt: deleted`, and the pages that replace them.
import { badFrontMatter } from "../../errors.js";
import { parseReplyTo } from "../../feed/subject.js";
import type { Words } from "../../options/words.js";
import type { DeletedPage } from "../../site/site.js";
import type { TemplateData } from "../eleventy.js";
import { homeLink, pageHeading, pageHtml } from "../pages/page-html.js";

/** Misspelled values of `twt: deleted`. As the text of a twt, one would keep the post published. */
const MISSPELLED = /^(?:deleted?|removed?)$/i;

/** Eleventy ignores an empty string here. */
const NO_CONTENT = "\n";

interface DeletedPost {
  /** The hash that it replied to; `null` for none. */
  replyTo: string | null;
  /** The field `lang` of its data; `undefined` for none. */
  lang: string | undefined;
}

/** The posts that their authors marked as deleted. Eleventy knows their data before their URLs. */
export class DeletedPosts {
  /** By file. */
  readonly #posts = new Map<string, DeletedPost>();

  /**
   * Takes a deleted post out of the collections, and its text and layout out of its page.
   *
   * @returns the new content of the template; `undefined` if it is not deleted
   * @throws TwtxtError `bad-front-matter` for a misspelled `deleted`
   */
  empty(data: TemplateData): string | undefined {
    const file = data.page?.inputPath ?? "";
    this.#posts.delete(file);
    if (data.twt !== "deleted") {
      checkSpelling(file, data.twt);
      return undefined;
    }
    const lang = typeof data.lang === "string" ? data.lang : undefined;
    this.#posts.set(file, { replyTo: parseReplyTo(String(data.replyTo ?? ""))?.hash ?? null, lang });
    data.eleventyExcludeFromCollections = true;
    data.layout = undefined;
    return NO_CONTENT;
  }

  /** @param file - a template */
  has(file: string | undefined): boolean {
    return file !== undefined && this.#posts.has(file);
  }

  /** @returns `undefined` if its data has none */
  readLanguage(file: string): string | undefined {
    return this.#posts.get(file)?.lang;
  }

  /**
   * Their pages, by path.
   *
   * @param urls - the URLs of each template, as in Eleventy's `eleventy.contentMap`; `false` for none
   */
  pagesAmong(urls: Record<string, readonly (string | false)[]>): DeletedPage[] {
    return [...this.#posts].flatMap(([file, { replyTo }]) =>
      (urls[file] ?? []).filter((page) => page !== false).map((page) => ({ page, replyTo })),
    );
  }
}

/**
 * The page that replaces a deleted post. It has no content of the post, and no layout of the site, because a layout would
 * show the title.
 *
 * @param home - the path of the home page
 */
export function deletedPageHtml(
  home: string,
  { nick, lang, words }: { nick: string; lang: string; words: Words },
): string {
  const head = '<meta name="robots" content="noindex">\n';
  return pageHtml(pageHeading(words.deleted), { title: words.deleted, lang, home: homeLink(home, nick), head });
}

function checkSpelling(file: string, twt: unknown): void {
  if (typeof twt !== "string" || !MISSPELLED.test(twt.trim())) return;
  throw badFrontMatter({ inputPath: file }, "twt: deleted, which deletes the post, or a longer text", twt);
}
