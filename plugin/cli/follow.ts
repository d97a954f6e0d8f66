// plugin/cli/follow.ts: `eleventy-twtxt follow` and `unfollow` change the list of followed feeds.
import { counted } from "../author/amounts.js";
import { loadSite, type Site } from "../author/site.js";
import { followedFeeds, follow as followFeed, unfollow as unfollowFeed } from "../author/timeline/followed-feeds.js";
import { isMentionUrl } from "../feed/mention.js";
import { command } from "./command.js";
import { HOSTS_OPTION, JSON_OPTION, type Kind, one, option, optional, SETTINGS_OPTION, text } from "./options.js";
import { formatTable, lineShownSafely, printData, reportOutcome, type Terminal } from "./terminal.js";

const FEED: Kind<string> = {
  name: "URL",
  expected: 'the URL of a feed without "#", such as https://bob.example/twtxt.txt',
  parse: (value) => (isMentionUrl(value) && !value.includes("#") ? value : null),
};

export const follow = command({
  name: "follow",
  summary: "follows a feed, or lists those that you follow",
  usage: ["[--json]", "URL [options]"],
  about:
    "Adds a feed to _data/follow.json in the data folder of your site. URL is that of the feed, or of a page that names it, such as the front page of a blog. The nick is that of the feed, which is requested. You can then mention it as @nick, and your timeline shows it. Without a URL, the command lists the feeds that you follow. It never changes your configuration file.",
  options: {
    nick: option(text("NICK", "a nick"), "your name for the feed; it is not requested then"),
    ...JSON_OPTION,
    ...HOSTS_OPTION,
    ...SETTINGS_OPTION,
  },
  words: optional(FEED),
  example: `$ eleventy-twtxt follow https://bob.example/twtxt.txt
Following @bob, https://bob.example/twtxt.txt. Your next build adds it.`,
  async run({ nick, json, settings, ...hosts }, url, terminal) {
    const site = await loadSite(terminal, settings);
    if (url === null) return list(site, json, terminal);
    const { feed, text } = await followFeed({ url, nick }, site, hosts);
    printData(feed, [], { json }, terminal);
    return json ? 0 : reportOutcome({ text: lineShownSafely(text) }, terminal);
  },
});

export const unfollow = command({
  name: "unfollow",
  summary: "unfollows a feed",
  usage: "FEED",
  about: "Removes a feed from _data/follow.json in the data folder of your site. FEED is its URL, or your nick for it.",
  options: SETTINGS_OPTION,
  words: one(text("FEED", "the URL of a feed that you follow, or its nick")),
  example: `$ eleventy-twtxt unfollow bob
No longer following @bob, https://bob.example/twtxt.txt. Your next build removes it.`,
  async run({ settings }, wanted, terminal) {
    const outcome = await unfollowFeed(wanted, await loadSite(terminal, settings), { "allow-private-host": [] });
    return reportOutcome({ ...outcome, text: lineShownSafely(outcome.text) }, terminal);
  },
});

async function list(site: Site, json: boolean, terminal: Terminal): Promise<number> {
  const feeds = await followedFeeds(site);
  const rows = feeds.map(({ nick, url, isInOption }) => [`@${nick}`, url, isInOption ? "in the option follow" : ""]);
  printData(feeds, formatTable(rows.map((row) => row.map(lineShownSafely))), { json }, terminal);
  terminal.say(`${counted(feeds.length, "feed")}.`);
  return 0;
}
