// plugin/mentions/verify/site-matcher.ts: finds the URLs in a source that belong to the target or to a post of this site.

import { canParseUrl } from "../../url.js";
import type { Claim } from "../mention.js";
import type { SiteIndex } from "../receive/site-index.js";
import { parseReference } from "../reference.js";

export interface SiteMatcher {
  /** Whether a URL is the claim's target, under any of its names. */
  isTarget(url: string): boolean;
  /**
   * The page of this site's post that a source is about: the twt that it replies to, a twt that it references, or a post
   * that it links to.
   *
   * @param subject - hash of the twt that it replies to; `null` for none
   * @param urls - URLs in the source, in order
   */
  postAbout(subject: string | null, urls: readonly string[]): string | null;
}

/** @see PROTOCOL 2.4, "The proof" */
export function siteMatcher({ target }: Claim, siteIndex: SiteIndex): SiteMatcher {
  const postNamedBy = (url: string): string | null => {
    if (!canParseUrl(url)) return null;
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

/** @returns an empty list for a URL that does not name a single twt */
function timestampsIn(url: string): string[] {
  try {
    return parseReference(url, "bad-target").timestamps;
  } catch {
    return [];
  }
}
