// plugin/mentions/verify/site-in-text.ts: which URLs of a source lead to this site, and to which of its posts.
import type { Claim } from "../mention.js";
import type { SiteIndex } from "../receive/site-index.js";
import { parseReference } from "../reference.js";

/** What a verification asks about the site. */
export interface SiteInText {
  /** Whether a URL is the claim's target, under any of its names. */
  isTarget(url: string): boolean;
  /**
   * The post of ours that a source is about, by its own words alone: the twt that it replies to, a twt that it names by a
   * text fragment, or a post that it links to.
   *
   * @param subject - the hash that it replies to; `null` for none
   * @param urls - those that it names, in order
   */
  postAbout(subject: string | null, urls: readonly string[]): string | null;
}

/** @see PROTOCOL 2.4, "The proof" */
export function siteSeenBy({ target }: Claim, siteIndex: SiteIndex): SiteInText {
  const postNamedBy = (url: string): string | null => {
    if (!URL.canParse(url)) return null;
    const found = siteIndex.target(url);
    if (found?.kind === "page") return siteIndex.isPost(found.url) ? found.url : null;
    return (
      (found &&
        timestampsIn(url)
          .map((timestamp) => siteIndex.pageOfTwt(timestamp))
          .find((page) => page !== null)) ??
      null
    );
  };
  return {
    isTarget: (url) => siteIndex.target(url)?.url === target.url,
    postAbout(subject, urls) {
      const bySubject = subject === null ? null : siteIndex.pageOfHash(subject);
      return bySubject ?? urls.map(postNamedBy).find((page) => page !== null) ?? null;
    },
  };
}

/** @returns none for a URL that names no single twt */
function timestampsIn(url: string): string[] {
  try {
    return parseReference(url, "bad-target").timestamps;
  } catch {
    return [];
  }
}
