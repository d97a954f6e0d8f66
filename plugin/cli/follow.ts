// plugin/cli/follow.ts: `eleventy-twtxt follow` and `unfollow` change the list of followed feeds; `followers` lists who reads the feed, by the User-Agent of their clients.
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { counted } from "../author/amounts.js";
import { misuse, typed } from "../author/invocation.js";
import { loadSite, type Site } from "../author/site.js";
import { isWithinReach, siteStore } from "../author/site-store.js";
import { followedFeeds, follow as followFeed, unfollow as unfollowFeed } from "../author/timeline/followed-feeds.js";
import { badFile, isMissing, TwtxtError } from "../errors.js";
import { isArchivePath } from "../feed/archives.js";
import { FollowerList, parseFollower, parseLogLine, type SeenFollower } from "../feed/followers.js";
import { isMentionUrl } from "../feed/mention.js";
import { readFollowers } from "../host/followers.js";
import { isPublicHost } from "../http/public-address.js";
import { isSameUrl } from "../http/same-url.js";
import { command } from "./command.js";
import {
  FILE,
  FOLDER,
  HOSTS_OPTION,
  JSON_OPTION,
  type Kind,
  one,
  option,
  optional,
  SETTINGS_OPTION,
  text,
  type ValuesOf,
  zeroOrMore,
} from "./options.js";
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

const COMMAND = "followers";
const MAX_FOLLOWERS = 10_000;

const OPTIONS = {
  store: option(FOLDER, "the folder in which serve keeps the site's data (default: the one that serve uses)"),
  ...JSON_OPTION,
  ...SETTINGS_OPTION,
};

type Values = ValuesOf<typeof OPTIONS>;

export const followers = command({
  name: COMMAND,
  summary: "lists who follows your feed",
  about:
    "Many clients name their user in each request for a feed. Without LOGFILE, lists those that serve has noted. With access logs of a web server in the combined format, as Apache and nginx write them, lists those of the logs; - stands for standard input. A client of several users names a page that lists them. Network addresses are not kept.",
  usage: "[LOGFILE...] [options]",
  options: OPTIONS,
  words: zeroOrMore(FILE),
  run: listFollowers,
  example: `$ eleventy-twtxt followers /var/log/nginx/access.log
bob  https://bob.example/twtxt.txt  2026-11-20  twtxt/1.3.1`,
});

async function listFollowers(values: Values, files: string[], terminal: Terminal): Promise<number> {
  const site = await loadSite(terminal, values.settings);
  const seen = files.length === 0 ? await notedByServe(site, values, terminal) : await inLogs(files, site, terminal);
  // A site reads its own feed, too.
  const all = seen.filter(({ url }) => isPublicHost(new URL(url).hostname) && !isSameUrl(url, site.settings.feedUrl));
  const rows = all.map(({ nick, url, client, lastSeen }) => [nick ?? "(several)", url, lastSeen.slice(0, 10), client]);
  printData(all, formatTable(rows.map((row) => row.map(lineShownSafely))), values, terminal);
  terminal.say(`${counted(all.length, "follower")}.`);
  return 0;
}

async function notedByServe(site: Site, values: Values, terminal: Terminal): Promise<SeenFollower[]> {
  if (!isWithinReach(site, values.store, terminal)) {
    throw misuse(
      COMMAND,
      "on Netlify no one sees who reads your feed: its CDN answers those requests without your site. With access logs of Netlify's paid plans, name their files.",
    );
  }
  const { store } = await siteStore(site, { command: COMMAND, store: values.store }, terminal);
  return readFollowers(store);
}

/** The followers in access logs, by requests for the feed that were answered with 200 or 304. */
async function inLogs(files: readonly string[], site: Site, terminal: Terminal): Promise<SeenFollower[]> {
  const feed = new URL(site.settings.feedUrl).pathname;
  const found = new FollowerList();
  for (const file of files) {
    const path = resolve(terminal.folder, file);
    const bytes = file === "-" ? Readable.from(terminal.input()) : createReadStream(path);
    await addLog(bytes, feed, found).catch((error) => {
      if (!isMissing(error)) throw badFile(error);
      const example = typed("followers /var/log/nginx/access.log");
      throw new TwtxtError("bad-file", `There is no file ${path}. Name an access log of your web server: ${example}`);
    });
  }
  return found.list(MAX_FOLLOWERS);
}

async function addLog(bytes: Readable, feed: string, found: FollowerList): Promise<void> {
  for await (const line of createInterface({ input: bytes, crlfDelay: Number.POSITIVE_INFINITY })) {
    const request = parseLogLine(line);
    const path = request?.path.split("?")[0] ?? "";
    if (request && [200, 206, 304].includes(request.status) && (path === feed || isArchivePath(feed, path))) {
      const follower = parseFollower(request.userAgent);
      if (follower) found.add(follower, request.time);
    }
  }
}
