// plugin/mentions/send/live-page.ts: reads the links of the site's own pages as visitors see them.
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { elementsOf, parseHtml } from "../../http/parse-html.js";
import { memoize } from "./discover.js";
import { baseOf, hrefOf, resolve } from "./endpoint-links.js";
import { comparableLink } from "./site-links.js";

const MAX_BYTES = 1 << 20;

/** @returns the URLs that a page links to, without fragments; `null` if the page is too large to say */
export type LinksOfPage = (page: string) => Promise<ReadonlySet<string> | null>;

/**
 * Creates the function that reads the links of a page. It requests each page once, bypassing caches. A deleted page has
 * no links.
 *
 * @returns a function that throws TwtxtError `unreachable`, and as the guard does
 */
export function linksOfLivePages(ask: Ask): LinksOfPage {
  return memoize(async (page) => {
    const response = await ask(page, { headers: { "cache-control": "no-cache" }, maxBytes: MAX_BYTES });
    const { status, url } = response;
    if (status === 200) return linksIn(await response.bytes().catch(nullIfTooLarge), url);
    response.close();
    if (status === 404 || status === 410) return new Set();
    throw new TwtxtError("unreachable", `${page} answers ${status}.`);
  });
}

async function linksIn(page: Buffer | null, url: string): Promise<ReadonlySet<string> | null> {
  if (page === null) return null;
  const { tree, isWhole } = await parseHtml(page.toString());
  if (!isWhole) return null;
  const elements = [...elementsOf(tree)];
  const base = baseOf(elements, url);
  const links = elements.flatMap((element) => (element.tagName === "a" ? [resolve(hrefOf(element) ?? "", base)] : []));
  return new Set(links.filter((link) => link !== null).map(comparableLink));
}

function nullIfTooLarge(error: unknown): null {
  if (error instanceof TwtxtError && error.code === "too-large") return null;
  throw error;
}
