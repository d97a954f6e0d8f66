// plugin/author/timeline/followed-feeds.ts: lists, finds, follows and unfollows feeds: the option `follow`, and the file beside it.
import { existsSync } from "node:fs";
import type { Element } from "hast";
import PQueue from "p-queue";
import { ifTwtxtError, orBadFile, TwtxtError } from "../../errors.js";
import { isMentionUrl, isNick } from "../../feed/mention.js";
import { FEED_BYTES } from "../../http/feed-file.js";
import type { Ask } from "../../http/guard.js";
import { findBase, hasRel, parseHtml, walkElements } from "../../http/parse-html.js";
import { isSameUrl } from "../../http/same-url.js";
import { readAnyFeed } from "../../mentions/send/live-feed.js";
import { type FollowedFeed, parseFollowFile } from "../../options/follow.js";
import { findRealPath, isBelow } from "../../site/real-path.js";
import { workAlone } from "../../store/processes.js";
import { isFeedUrl, isSmallWeb, resolveUrl } from "../../url.js";
import { createText, readText, replaceText } from "../files.js";
import { typed } from "../invocation.js";
import type { HostChoice } from "../machine.js";
import { addLoopbackHosts, createNetwork } from "../network.js";
import type { Outcome } from "../outcome.js";
import type { Site } from "../site.js";

/** A feed that the site follows from its next build on. */
export interface Following extends FollowedFeed {
  /** Whether it is in the configuration of the site, which is code and never edited here. */
  isInOption: boolean;
}

/** The changes of this process, one after the other. */
const changes = new PQueue({ concurrency: 1 });

/** Changes the file. Each change reads what the one before has written, also those of other processes. */
function changeFile<T>({ host }: Site, change: () => Promise<T>): Promise<T> {
  return changes.add(() => orBadFile(workAlone(host.following, change)));
}

/** The feeds that the site follows: those in the option, as of the last build, and those that are in the file now. */
export async function followedFeeds(site: Site): Promise<Following[]> {
  const { option } = site.settings.followed;
  const { feeds } = await readList(site);
  const added = feeds.filter(({ url }) => !option.some((feed) => isSameUrl(feed.url, url)));
  return [
    ...option.map((feed) => ({ ...feed, isInOption: true })),
    ...added.map((feed) => ({ ...feed, isInOption: false })),
  ];
}

type WantedFeed = { url: string; nick: string | undefined };

/** A feed that the author follows. `isNew` is `false` if the site followed it already, and nothing was changed. */
interface Followed extends Outcome {
  feed: Following & { isNew: boolean };
}

/**
 * Follows a feed: adds it to the file, which is created if necessary.
 *
 * @param url - of the feed; without a nick, also of a page that names it, such as the front page of a site
 * @param nick - `undefined` for the nick in the feed, which is requested; without one, it is the host
 * @throws TwtxtError `bad-usage` for the own feed, an unsuitable URL, and a nick that is invalid or taken; `bad-file`,
 *   and errors of reading the feed
 */
export async function follow(wanted: WantedFeed, site: Site, choice: HostChoice): Promise<Followed> {
  const feed = await findAndAdd(wanted, site, createNetwork(addLoopbackHosts(site, choice, [wanted.url])).ask);
  const shown = `@${feed.nick}, ${feed.url}`;
  if (!feed.isNew) return { feed, text: `You already follow ${shown}.` };
  return { feed, text: `Following ${shown}. Your next build adds it.`, undo: () => unfollow(feed.url, site, choice) };
}

async function findAndAdd({ url, nick }: WantedFeed, site: Site, ask: Ask): Promise<Followed["feed"]> {
  checkUrl(url, site);
  if (nick !== undefined && !isNick(nick)) {
    throw new TwtxtError(
      "bad-usage",
      `"${nick}" cannot be a nick: it must not have spaces or any of @ # ! : < > ( ) [ ] ' " \`.`,
    );
  }
  const known = (await followedFeeds(site)).find((feed) => isSameUrl(feed.url, url));
  if (known) return { ...known, isNew: false };
  const feed = nick === undefined ? await namedFeed(url, ask) : { nick, url };
  checkUrl(feed.url, site);
  return changeFile(site, () => addFeed(site, feed));
}

/** Adds a feed that is not in the list, perhaps since another page has just added it. @throws TwtxtError as {@link follow} */
async function addFeed(site: Site, feed: FollowedFeed): Promise<Followed["feed"]> {
  const all = await followedFeeds(site);
  const known = all.find(({ url }) => isSameUrl(url, feed.url));
  if (known) return { ...known, isNew: false };
  const namesake = all.find(({ nick }) => nick === feed.nick);
  if (namesake) {
    throw new TwtxtError(
      "bad-usage",
      `You already follow another @${feed.nick}, ${namesake.url}. Choose a nick for the new one: ${typed(`follow ${feed.url} --nick ${feed.nick}2`)}`,
    );
  }
  await addToList(site, feed);
  return { ...feed, isInOption: false, isNew: true };
}

/**
 * Unfollows a feed: removes it from the file.
 *
 * @param wanted - the URL of the feed, or its nick
 * @param choice - for following it again
 * @throws TwtxtError `bad-usage` for a feed in the option; `bad-file`
 */
export async function unfollow(wanted: string, site: Site, choice: HostChoice): Promise<Outcome> {
  const feed = await changeFile(site, () => removeFeed(site, wanted));
  if (feed === null) return { text: `You do not follow ${wanted}.`, isFailure: true };
  const text = `No longer following @${feed.nick}, ${feed.url}. Your next build removes it.`;
  return { text, undo: () => follow(feed, site, choice) };
}

async function removeFeed(site: Site, wanted: string): Promise<FollowedFeed | null> {
  const isWanted = ({ nick, url }: FollowedFeed) => nick === wanted.replace(/^@/, "") || isSameUrl(url, wanted);
  checkPlace(site);
  const { file, entries, feeds } = await readList(site);
  const configured = site.settings.followed.option.find(isWanted);
  const [found] = feeds.filter(isWanted);
  if (found) await replaceText(file, formatList(entries.filter((entry) => !isWanted(entry))));
  if (!configured) return found ?? null;
  throw new TwtxtError(
    "bad-usage",
    `${configured.url} is in the option "follow" of your configuration file, which only you can edit. Remove { nick: "${configured.nick}", ... } there.`,
  );
}

async function readList(site: Site) {
  const file = site.file(site.settings.followed.file);
  const isThere = existsSync(file);
  const json = isThere ? await readText(file) : "[]\n";
  if (json === null) throw new TwtxtError("bad-file", `${site.shown(file)} is not a text in UTF-8.`);
  return { file, isThere, ...parseFollowFile(json, site.shown(file)) };
}

/** With all fields that the author has added. */
const formatList = (entries: readonly object[]) => `${JSON.stringify(entries, null, 2)}\n`;

async function addToList(site: Site, { nick, url }: FollowedFeed): Promise<void> {
  checkPlace(site);
  const { file, isThere, entries } = await readList(site);
  const text = formatList([...entries, { nick, url }]);
  if (isThere) return replaceText(file, text);
  // The author may just have created it.
  if (!(await createText(file, text))) await addToList(site, { nick, url });
}

/** @throws TwtxtError `bad-file` if a change would be written outside of the project */
function checkPlace(site: Site): void {
  const file = site.file(site.settings.followed.file);
  const [root, real] = [findRealPath(site.file(".")), findRealPath(file)];
  if (root !== null && real !== null && isBelow(root, real)) return;
  throw new TwtxtError(
    "bad-file",
    `${site.shown(file)} is a link to a file outside of this project. Put the file itself there, then try again.`,
  );
}

function checkUrl(url: string, { settings }: Site): void {
  if (isSameUrl(url, settings.feedUrl)) {
    throw new TwtxtError("bad-usage", `${url} is your own feed. Your timeline has your own twts anyway.`);
  }
  if (isMentionUrl(url) && !url.includes("#")) return;
  throw new TwtxtError(
    "bad-usage",
    `"${url}" is not the URL of a feed. Expected one such as https://bob.example/twtxt.txt, without "#".`,
  );
}

/** The feed at a URL or named by the page there; its nick is the host if it has none. */
async function namedFeed(url: string, ask: Ask): Promise<FollowedFeed> {
  const { host } = new URL(url);
  if (!isFeedUrl(url)) return { nick: host, url };
  const found = await findFeed(url, ask);
  return { nick: found.nick ?? new URL(found.url).host.replace(/:/g, "-"), url: found.url };
}

/**
 * Finds a feed: at the URL itself, in the links of the page there, or at `/twtxt.txt` of a front page.
 *
 * @returns its URL and its nick; `null` if it has none that is valid in a mention
 * @throws TwtxtError `feed-not-live` if there is none, and as the guard
 */
export async function findFeed(url: string, ask: Ask) {
  const readFeed = async (place: string) => ({ url: place, nick: (await readAnyFeed(ask, place)).nick });
  const searchPage = async (error: TwtxtError) => {
    for (const place of await findNamedPlaces(url, ask)) {
      // One place that cannot be read does not end the search.
      const feed = await readFeed(place).catch(ifTwtxtError(() => null));
      if (feed) return feed;
    }
    const advice = "No feed was found there. Ask the author for its URL, such as https://bob.example/twtxt.txt";
    throw new TwtxtError("feed-not-live", `${error.message} ${advice}`, { cause: error });
  };
  return readFeed(url).catch(ifTwtxtError(searchPage, "feed-not-live"));
}

async function findNamedPlaces(url: string, ask: Ask): Promise<string[]> {
  if (isSmallWeb(url)) return [];
  const response = await ask(url, { maxBytes: FEED_BYTES });
  const { pathname } = new URL(response.url);
  const usual = pathname === "/" ? [new URL(USUAL_PLACE, response.url).href] : [];
  const isPage = response.status === 200 && /^text\/html\b/i.test(response.headers["content-type"] ?? "");
  if (isPage) return [...(await feedLinks((await response.bytes()).toString(), response.url)), ...usual];
  response.close();
  return usual;
}

export const USUAL_PLACE = "/twtxt.txt";
const MAX_LINKS = 5;

/** The links of a page to plain text, at most five: a feed, or another file such as `/llms.txt`. */
export async function feedLinks(html: string, pageUrl: string): Promise<string[]> {
  const elements = [...walkElements((await parseHtml(html)).tree)];
  const base = findBase(elements, pageUrl);
  const hrefs = elements.filter(isFeedLink).map(({ properties: { href } }) => String(href));
  const urls = hrefs.flatMap((href) => resolveUrl(href, base) ?? []);
  return [...new Set(urls)].slice(0, MAX_LINKS);
}

function isFeedLink(element: Element): boolean {
  const { type, href } = element.properties;
  const isPlain = /^text\/plain\b/i.test(String(type));
  return element.tagName === "link" && hasRel(element, "alternate") && isPlain && Boolean(href);
}
