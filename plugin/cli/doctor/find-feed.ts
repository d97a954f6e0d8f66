// plugin/cli/doctor/find-feed.ts: the feed of a site, and whether it stands where it says.
import type { Element } from "hast";
import { type FeedHeader, type ParsedFeed, parseFeed } from "../../feed/feed.js";
import { FEED_BYTES, isFeed, startsAsMarkup } from "../../http/feed-file.js";
import { elementsOf, parseHtml } from "../../http/parse-html.js";
import { baseOf } from "../../mentions/send/endpoint-in-html.js";
import { counted, type Finding, fix, note, ok, quoted } from "./finding.js";
import { isSeen, type Look, type Seen, typeOf } from "./look.js";

/** A feed as it was served. */
export interface SeenFeed extends Seen {
  text: string;
  parsed: ParsedFeed;
  header: FeedHeader;
}

const USUAL_PLACE = "/twtxt.txt";
const MAX_LINKS = 5;

/**
 * Looks for the feed: at the URL that was given, in the links of the page that is there, or at `/twtxt.txt`.
 *
 * @param given - of a feed, of a page or of a site
 * @returns the feed, or `null`, and what there is to say of it
 */
export async function findFeed(given: string, look: Look): Promise<{ feed: SeenFeed | null; findings: Finding[] }> {
  const first = await look(given, { maxBytes: FEED_BYTES });
  if (!isSeen(first)) return { feed: null, findings: [first] };
  const feed = asFeed(first);
  if (feed) return { feed, findings: [found(feed), ...redirected(given, feed)] };

  for (const link of await feedLinks(first)) {
    const linked = await feedAt(link, look);
    if (linked) return { feed: linked, findings: [ok(`${first.url} names the feed ${link}`), found(linked)] };
  }
  if (new URL(first.url).pathname !== "/") return { feed: null, findings: [noFeed(first)] };

  const usual = await look(new URL(USUAL_PLACE, first.url).href, { maxBytes: FEED_BYTES });
  if (!isSeen(usual)) return { feed: null, findings: [usual] };
  const unnamed = asFeed(usual);
  return unnamed
    ? { feed: unnamed, findings: [found(unnamed), notNamed(first, unnamed)] }
    : { feed: null, findings: [noFeed(usual)] };
}

/** @returns `null` for what is no feed */
export function asFeed(seen: Seen): SeenFeed | null {
  const text = seen.bytes.toString();
  if (seen.status !== 200 || startsAsMarkup(text)) return null;
  const parsed = parseFeed(text);
  return isFeed(parsed) ? { ...seen, text, parsed, header: parsed.header } : null;
}

/** Says what stands in place of a feed. */
export function noFeed({ status, url, headers }: Seen): Finding {
  if (status === 200) {
    const type = headers["content-type"];
    return fix(
      `${url} is no feed${type === undefined ? "" : `, but ${quoted(type)}`}.`,
      "Give the address of the feed, such as https://alice.example/twtxt.txt",
    );
  }
  if (status === 404 || status === 410) {
    return fix(
      `There is nothing at ${url} (${status}).`,
      "Build and deploy the site, or give the address of its feed.",
    );
  }
  if (status < 500) {
    return fix(
      `${url} is refused (${status}).`,
      "Everybody must be able to read it, programs too: some hosts have a protection against these that can be turned off.",
    );
  }
  return fix(`${url} answers ${status}.`, "Your host has trouble. Try again later.");
}

/** Whether the address that a feed gives as its own leads to it, without detours. */
export async function checkOwnUrl(feed: SeenFeed, look: Look): Promise<Finding[]> {
  const [own, ...others] = feed.header.url ?? [];
  if (own === undefined) {
    const todo = `Write "# url = ${feed.url}" at its top: the hashes by which replies name your twts are made with it.`;
    return [fix("The feed does not say where it stands.", todo)];
  }
  const finding = await checkPlace(own, feed, look);
  if (others.length === 0) return [finding];
  const todo = "Hashes are made with the first one; let that be the address that you give to people.";
  return [finding, note(`The feed has ${others.length + 1} lines "# url = ...".`, todo)];
}

async function checkPlace(own: string, { url, text }: SeenFeed, look: Look): Promise<Finding> {
  if (URL.canParse(own) && new URL(own).href === url) return ok(`The feed names its own URL, ${url}`);
  const says = `The feed says that it stands at ${quoted(own)}`;
  const todo = `Serve it there, or write "# url = ${url}". Another address changes the hashes by which replies name your twts, so change it once at most.`;

  const seen = URL.canParse(own) ? await look(own, { maxBytes: FEED_BYTES }) : null;
  if (seen === null || !isSeen(seen) || !asFeed(seen)) return fix(`${says}, where it is not to be had.`, todo);
  if (seen.asked.length > 1) {
    return fix(`${says}, which redirects to ${seen.url}. Some readers follow no redirect.`, todo);
  }
  const what = seen.bytes.toString() === text ? "it is served too" : "another one is served";
  return note(`${says}, where ${what}.`, "Give people that address, and this command too.");
}

function found({ url, parsed: { twts } }: SeenFeed): Finding {
  if (twts.length === 0) return note(`${url} is a feed without any twt.`, "Write something.");
  return ok(`${url} is a feed of ${counted(twts.length, "twt")}`);
}

function redirected(given: string, { asked, url }: SeenFeed): Finding[] {
  return asked.length > 1
    ? [note(`${given} redirects to ${url}`, "Give people the second one: some readers follow no redirect.")]
    : [];
}

function notNamed({ url }: Seen, feed: SeenFeed): Finding {
  return note(
    `${url} does not name the feed.`,
    `Put this into the head of your pages: <link rel="alternate" type="text/plain" href="${feed.url}">`,
  );
}

async function feedAt(url: string, look: Look): Promise<SeenFeed | null> {
  const seen = await look(url, { maxBytes: FEED_BYTES });
  return isSeen(seen) ? asFeed(seen) : null;
}

/** The links of a page to what is plain text: a feed, or something else, such as `/llms.txt`. */
async function feedLinks(page: Seen): Promise<string[]> {
  if (page.status !== 200 || typeOf(page) !== "text/html") return [];
  const elements = [...elementsOf((await parseHtml(page.bytes.toString())).tree)];
  const base = baseOf(elements, page.url);
  const hrefs = elements.filter(isFeedLink).map(({ properties: { href } }) => String(href));
  const urls = hrefs.filter((href) => URL.canParse(href, base)).map((href) => new URL(href, base).href);
  return [...new Set(urls)].slice(0, MAX_LINKS);
}

function isFeedLink({ tagName, properties: { rel, type, href } }: Element): boolean {
  const rels = [rel ?? []].flat().map((one) => String(one).toLowerCase());
  return tagName === "link" && rels.includes("alternate") && /^text\/plain\b/i.test(String(type)) && Boolean(href);
}
