// plugin/author/comments/find-page.ts: finds the page of this site for the URL that another system knows it by.
import { remember } from "../../groups.js";
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
  const root = origin + readPrefix(settings);
  const index = new SiteIndex(pages, root);
  const listForms = (url: string): string[] => {
    const { pathname } = parseUrl(url);
    const move = moves.find(({ from }) => pathname.startsWith(from));
    const path = move ? move.to + pathname.slice(move.from.length) : pathname;
    const bare = path.replace(/(?:\/index)?\.html?$/, "").replace(/\/$/, "");
    const paths = [path, bare, `${bare}.html`];
    return [...(move ? [] : [url]), ...paths.map((form) => origin + form), ...paths.map((form) => root + form)];
  };
  const find = (urls: readonly string[]): string | null => {
    const known = urls.map((text) => resolveUrl(text, origin) ?? "");
    const forms = known.filter((url) => /^https?:/.test(url) && !NUMBERED.test(url)).flatMap(listForms);
    const targets = forms.map((form) => index.target(form));
    return targets.find((target) => target?.kind === "page")?.url ?? null;
  };
  const found = new Map<string, string | null>();
  return (urls: readonly string[]) => remember(found, urls.join(" "), () => find(urls));
}
