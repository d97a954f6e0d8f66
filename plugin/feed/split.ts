// plugin/feed/split.ts: divides a feed into files. PROTOCOL 1.4
//
// Not in archives.ts, because functions on Netlify load that file, and would load the code for hashes with it.
import { groupBy } from "../groups.js";
import { archivePath } from "./archives.js";
import { twtHash } from "./hash.js";
import { formatTwt, isLongerThan, type Twt } from "./twt.js";

/** One file of a feed: the feed itself, or an archive of an earlier period. */
interface FeedPart {
  /** Path from the root of the site, such as `/twtxt.txt`. */
  path: string;
  twts: Twt[];
  /** The field `prev`: the hash of the last twt of the previous part, and its file name; `null` for the oldest part. */
  prev: string | null;
}

/** A year of more than this many bytes is split into months. */
const YEAR_LIMIT = 512 * 1024;

/**
 * Divides twts into files by their dates only, so that a new post moves no other twt to another file.
 *
 * @param twts - oldest first, timestamps as `YYYY-MM-DDThh:mm:ssZ`
 * @param feed - the feed's path, such as `/twtxt.txt`, and the `url` from which the hashes of all parts are computed
 * @returns the parts, newest first: the feed with the two newest periods, then one archive for each earlier period
 * @see PROTOCOL 1.4
 */
export function splitIntoParts(twts: readonly Twt[], feed: { path: string; url: string }): FeedPart[] {
  const periods = toPeriods(twts).reverse();
  const current = periods.slice(0, 2).reverse();
  const archives = periods.slice(2);

  const parts: FeedPart[] = [
    { path: feed.path, twts: current.flatMap(([, twts]) => twts), prev: null },
    ...archives.map(([name, twts]) => ({ path: archivePath(feed.path, name), twts, prev: null })),
  ];
  return parts.map((part, i) => ({ ...part, prev: linkTo(parts[i + 1], feed.url) }));
}

/** Names are `2019` or `2019-03`. */
function toPeriods(twts: readonly Twt[]): [name: string, twts: Twt[]][] {
  const years = [...groupBy(twts, ({ timestamp }) => timestamp.slice(0, 4))];
  return years.flatMap(([year, ofYear]) => {
    const isLong = isLongerThan(ofYear.map(formatTwt).join(""), YEAR_LIMIT);
    return isLong ? [...groupBy(ofYear, ({ timestamp }) => timestamp.slice(0, 7))] : [[year, ofYear]];
  });
}

function linkTo(part: FeedPart | undefined, feedUrl: string): string | null {
  const last = part?.twts.at(-1);
  return part && last ? `${twtHash(feedUrl, last)} ${part.path.slice(part.path.lastIndexOf("/") + 1)}` : null;
}
