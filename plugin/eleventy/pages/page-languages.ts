// plugin/eleventy/pages/page-languages.ts: writes what the plugin shows on a page in the language of that page.
import { remember } from "../../groups.js";

export interface RenderedPage {
  url?: string | false;
  /** Set by Eleventy's i18n plugin. */
  lang?: unknown;
}

/**
 * Writes the HTML of a part of a page.
 *
 * @param isComplete - whether the page is complete, so that no plugin adds the path prefix to its links any more
 */
export type WritePart = (lang: string, isComplete: boolean) => string;

interface Part {
  html: string;
  lang: string;
  /** Whether the page's data has the language, whatever its `<html>` says. */
  isFixed: boolean;
  write: WritePart;
}

const HTML_LANG = /<html\b[^>]*?\slang\s*=\s*["']?([A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*)/i;
/** The language is in the first characters of a page. */
const HEAD_LENGTH = 4000;

/** The elements of the plugin whose words depend on the language. Minifiers remove quotes, and the end tags of paragraphs. */
const PARTS =
  /<(twtxt-mentions|twtxt-contact|twtxt-comments)\b[\s\S]*?<\/\1\s*>|<(form|nav|div|section)\b[^<>]*\bclass=["']?twtxt-(?:form|around|contact|context)\b[\s\S]*?<\/\2\s*>|<p\b[^<>]*\bclass=["']?twtxt-(?:reply|syndication)\b[\s\S]*?<\/(?:code|span)\s*>(?:\s*<\/p\s*>)?/g;

/** The parts of the plugin in pages that are not complete yet. */
export class PageLanguages {
  readonly #parts = new Map<string, Part[]>();
  /** The language of the last complete page: most sites have one language. */
  #last: string | undefined;

  /** @param standard - the language of the site's options */
  constructor(readonly standard: string | undefined) {}

  /** The language of a page that is not complete, and whether it is certain. */
  guess(page: RenderedPage | undefined): [lang: string, isFixed: boolean] {
    const isFixed = typeof page?.lang === "string" && page.lang !== "";
    return [isFixed ? String(page.lang) : (this.#last ?? this.standard ?? "en"), isFixed];
  }

  /** The language of a complete page. */
  read(page: RenderedPage, content: string): string {
    const [lang, isFixed] = this.guess(page);
    return isFixed ? lang : (readHtmlLanguage(content) ?? this.standard ?? "en");
  }

  /** Writes a part in the language of its page. Where only the layout has it, the language is guessed. */
  write(page: RenderedPage | undefined, write: WritePart): string {
    const [lang, isFixed] = this.guess(page);
    const html = write(lang, false);
    if (typeof page?.url === "string") remember(this.#parts, page.url, () => []).push({ html, lang, isFixed, write });
    return html;
  }

  /** Writes the parts of a complete page again if its `<html lang>` is not the language that was guessed. */
  correct(content: string, url: string): string {
    const parts = this.#parts.get(url) ?? [];
    this.#parts.delete(url);
    const lang = readHtmlLanguage(content);
    if (lang === undefined || parts.length === 0) return content;
    this.#last = lang;
    const isRight = (part: Part) => part.isFixed || part.lang === lang;
    if (parts.every(isRight)) return content;
    const html = parts.map((part) => (isRight(part) ? part.html : part.write(lang, true)));
    const elements = html.flatMap((each) => each.match(PARTS) ?? []);
    // The template may have left out or repeated a part.
    if (content.match(PARTS)?.length !== elements.length) return content;
    const next = elements.values();
    return content.replace(PARTS, (old) => next.next().value ?? old);
  }
}

function readHtmlLanguage(page: string): string | undefined {
  return HTML_LANG.exec(page.slice(0, HEAD_LENGTH))?.[1];
}
