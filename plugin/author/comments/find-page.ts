// plugin/author/comments/find-page.ts: finds the page of this site for the URL that another system knows it by.
import { SiteIndex } from "../../mentions/receive/site-index.js";
import { readPrefix } from "../../site/routes.js";
import type { PublishedSite } from "../../site/site.js";
import { parseUrl, resolveUrl } from "../../url.js";

/** Pages below a path that are now below another one. */
export interface Move {
  from: string;
  to: string;
}

/** WordPress names drafts and posts without a title by their numbers, such as `/?p=218`. */
const NUMBERED = /[?&](?:p|page_id|attachment_id)=\d/;

/**
 * @param moves - the first one that applies counts
 * @returns a function that finds the URL of a page as the site writes it, by URLs and paths, the best first: on whatever
 *   host, with or without `.html`, `index.html` and the last slash. `null` for none
 */
export function pageFinder({ settings, pages }: PublishedSite, moves: readonly Move[]) {
  const { url: origin } = settings;
  const index = new SiteIndex(pages, origin + readPrefix(settings));
  const below = (path: string) => [origin + path, origin + readPrefix(settings).replace(/\/$/, "") + path];
  const listForms = (url: string): string[] => {
    const { pathname } = parseUrl(url);
    const move = moves.find(({ from }) => pathname.startsWith(from));
    const path = move ? move.to + pathname.slice(move.from.length) : pathname;
    const bare = path.replace(/(?:\/index)?\.html?$/, "").replace(/\/$/, "");
    return [...(move ? [] : [url]), ...[path, bare, `${bare}.html`].flatMap(below)];
  };
  return (urls: readonly string[]): string | null => {
    for (const text of urls) {
      const url = resolveUrl(text, origin);
      if (url === null || !/^https?:/.test(url) || NUMBERED.test(url)) continue;
      for (const form of listForms(url)) {
        const target = index.target(form);
        if (target?.kind === "page") return target.url;
      }
    }
    return null;
  };
}
