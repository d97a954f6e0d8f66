// plugin/host/known-twts.ts: twts of other feeds that a site has read: received mentions and followed feeds.
import type { KeptFeed } from "../http/followed-feeds.js";
import { isSameUrl } from "../http/same-url.js";
import type { ReceivedMentions } from "../mentions/receive/received.js";
import type { FindTwt } from "../mentions/send/send-mention.js";

export function twtFinder(received: ReceivedMentions, keptFeeds: () => Promise<readonly KeptFeed[]>): FindTwt {
  return async (feedUrl, hash) => {
    const hasHash = (twt: { hash: string | null; hashV1: string | null }) => [twt.hash, twt.hashV1].includes(hash);
    for (const mention of (await received.journal.read()).findNamed(hash)) {
      const { identity, given, timestamp } = mention;
      const isOfFeed = isSameUrl(identity, feedUrl) || isSameUrl(given, feedUrl);
      if (timestamp !== null && isOfFeed && hasHash(mention)) return timestamp;
    }
    const feed = (await keptFeeds()).find(({ url }) => isSameUrl(url, feedUrl));
    return feed?.twts.find(hasHash)?.timestamp ?? null;
  };
}
