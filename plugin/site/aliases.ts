// plugin/site/aliases.ts: other URLs of a site and its feed, from the option `mentions.aliases`.

export interface Aliases {
  /** Other URLs of the feed: those in the option, and the feed's path at each origin. */
  feeds: string[];
  /** Origins of earlier domains, such as `https://old.example`: all their pages are pages of this site. */
  origins: string[];
}

/**
 * Divides the option: an entry without a path is an origin, the others are feeds.
 *
 * @param feedUrl - the present URL of the feed
 * @example readAliases(["https://old.example"], "https://alice.example/twtxt.txt") // { feeds: ["https://old.example/twtxt.txt"], origins: ["https://old.example"] }
 * @see PROTOCOL 2.4, "The request"
 */
export function readAliases(aliases: readonly string[], feedUrl: string): Aliases {
  const urls = aliases.map((alias) => ({ alias, url: new URL(alias) }));
  const isOrigin = ({ protocol, pathname, search }: URL) =>
    /^https?:$/.test(protocol) && pathname === "/" && search === "";
  const origins = urls.filter(({ url }) => isOrigin(url)).map(({ url }) => url.origin);
  const feeds = urls.filter(({ url }) => !isOrigin(url)).map(({ alias }) => alias);
  const { pathname } = new URL(feedUrl);
  return { feeds: [...feeds, ...origins.map((origin) => `${origin}${pathname}`)], origins };
}
