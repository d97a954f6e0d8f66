// plugin/eleventy/site-pages.ts: the pages and twts of a build that others can mention.
import { twtHashes } from "../feed/hash.js";
import type { Settings } from "../options.js";
import type { SitePages } from "../site/site.js";
import { permalinkOf } from "./post-date.js";
import { mentionsOptions } from "./served-options.js";
import type { SiteUrls } from "./site-urls.js";
import type { TwtsFromPosts } from "./twts-from-posts.js";

/** URLs of HTML pages; a page without an extension is taken for one. */
const HTML = /(\/|\.html?|\/[^./]+)$/;

/**
 * Lists the pages and twts of a build.
 *
 * @param site - with the paths of all templates, as Eleventy's `eleventy.contentMap` has them
 */
export function sitePages(
  site: {
    settings: Settings;
    urls: Pick<SiteUrls, "feedUrl" | "absolute">;
    paths: readonly string[];
    host: NonNullable<Settings["host"]>;
  },
  twts: Pick<TwtsFromPosts, "schedule" | "twtOf">,
): SitePages {
  const { settings, urls, paths, host } = site;
  // Hashes take as long as everything else that the plugin does, and a host of files alone needs none.
  const hashesOf = (twt: Parameters<typeof twtHashes>[1]) =>
    host === "static" ? [] : Object.values(twtHashes(urls.feedUrl(), twt));
  return {
    feeds: [urls.feedUrl(), ...mentionsOptions(settings).aliases],
    pages: paths.filter((path) => HTML.test(path)).map((path) => urls.absolute(path)),
    twts: twts.schedule.dated.flatMap(({ post }) => {
      const twt = twts.twtOf(permalinkOf(post));
      if (!twt) return [];
      const page = post.url ? urls.absolute(post.url) : null;
      return [{ timestamp: twt.timestamp, hashes: hashesOf(twt), page }];
    }),
  };
}
