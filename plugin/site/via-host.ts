// plugin/site/via-host.ts: says at which site a mention was published, if its author names another one.

/** The host of a normalized URL. A pattern, since the build asks for each item of each page. */
const HOST = /^https?:\/\/(?:www\.)?([^/?#]+)/i;

/**
 * The host of a mention's source, if the URL of its author is on another host: a page can claim any author, and services
 * such as Bridgy publish for others. A leading `www.` makes no difference.
 *
 * @returns `null` if both are on the same host, or the author has no URL
 * @example viaHost({ source: "https://brid.gy/like/1", author: { url: "https://bob.example/" } }) // "brid.gy"
 */
export function viaHost({ source, author }: { source: string; author: { url: string } }): string | null {
  const [host, authorHost] = [source, author.url].map((url) => HOST.exec(url)?.[1]?.toLowerCase());
  return host === undefined || authorHost === undefined || host === authorHost ? null : host;
}
