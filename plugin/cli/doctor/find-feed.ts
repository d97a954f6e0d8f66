// plugin/cli/doctor/find-feed.ts: finds the feed of a site, and checks the URL that it gives.
import type { Element } from "hast";
import { type FeedHeader, type ParsedFeed, parseFeed } from "../../feed/feed.js";
import { FEED_BYTES, isFeed, startsAsMarkup } from "../../http/feed-file.js";
import { elementsOf, parseHtml } from "../../http/parse-html.js";
import { baseOf } from "../../mentions/send/endpoint-in-html.js";
import { canParseUrl } from "../../url.js";
import { counted } from "../output.js";
import { type Answer, type Finding, fix, isAnswer, note, ok, type Probe, quoted, typeOf } from "./finding.js";

/** A feed as it was served. */
export interface ServedFeed extends Answer {
  text: string;
  parsed: ParsedFeed;
  header: FeedHeader;
}

const USUAL_PLACE = "/twtxt.txt";
const MAX_LINKS = 5;

/**
 * Looks for the feed: at the given URL, in the links of the page there, or at `/twtxt.txt`.
 *
 * @param given - of a feed, of a page or of a site
 * @returns the feed, or `null`, and findings
 */
export async function findFeed(given: string, probe: Probe): Promise<{ feed: ServedFeed | null; findings: Finding[] }> {
  const first = await probe(given, { maxBytes: FEED_BYTES });
  if (!isAnswer(first)) return { feed: null, findings: [first] };
  const feed = asFeed(first);
  if (feed) return { feed, findings: [found(feed), ...redirected(given, feed)] };

  for (const link of await feedLinks(first)) {
    const linked = await feedAt(link, probe);
    if (linked) return { feed: linked, findings: [ok(`${first.url} names the feed ${link}`), found(linked)] };
  }
  if (new URL(first.url).pathname !== "/") return { feed: null, findings: [noFeed(first)] };

  const usual = await probe(new URL(USUAL_PLACE, first.url).href, { maxBytes: FEED_BYTES });
  if (!isAnswer(usual)) return { feed: null, findings: [usual] };
  const unnamed = asFeed(usual);
  return unnamed
    ? { feed: unnamed, findings: [found(unnamed), notNamed(first, unnamed)] }
    : { feed: null, findings: [noFeed(usual)] };
}

/** @returns `null` where the answer is not a feed */
export function asFeed(answer: Answer): ServedFeed | null {
  const text = answer.bytes.toString();
  if (answer.status !== 200 || startsAsMarkup(text)) return null;
  const parsed = parseFeed(text);
  return isFeed(parsed) ? { ...answer, text, parsed, header: parsed.header } : null;
}

/** Describes an answer that is not a feed. */
export function noFeed({ status, url, headers }: Answer): Finding {
  if (status === 200) {
    const type = headers["content-type"];
    return fix(
      `${url} is not a feed${type === undefined ? "" : `, but ${quoted(type)}`}.`,
      "Give the URL of the feed, such as https://alice.example/twtxt.txt",
    );
  }
  if (status === 404 || status === 410) {
    return fix(`There is nothing at ${url} (${status}).`, "Build and deploy the site, or give the URL of its feed.");
  }
  if (status < 500) {
    return fix(
      `${url} is refused (${status}).`,
      "Programs have to be able to read it too. Some hosts have a protection against programs that you can turn off.",
    );
  }
  return fix(`${url} answers ${status}.`, "Your host has a problem. Try again later.");
}

/** Checks that the URL that a feed gives as its own leads to it, without redirects. */
export async function checkOwnUrl(feed: ServedFeed, probe: Probe): Promise<Finding[]> {
  const [own, ...others] = feed.header.url ?? [];
  if (own === undefined) {
    const todo = `Add "# url = ${feed.url}" at the top: the hashes in replies to your twts are made with it.`;
    return [fix("The feed does not give its URL.", todo)];
  }
  const finding = await checkPlace(own, feed, probe);
  if (others.length === 0) return [finding];
  const todo = "Hashes are made with the first one; it should be the URL that you give to people.";
  return [finding, note(`The feed has ${others.length + 1} lines "# url = ...".`, todo)];
}

async function checkPlace(own: string, { url, text }: ServedFeed, probe: Probe): Promise<Finding> {
  if (canParseUrl(own) && new URL(own).href === url) return ok(`The feed names its own URL, ${url}`);
  const says = `The feed says that its URL is ${quoted(own)}`;
  const todo = `Serve it there, or write "# url = ${url}". Another URL changes the hashes in replies to your twts, so change it at most once.`;

  const answer = canParseUrl(own) ? await probe(own, { maxBytes: FEED_BYTES }) : null;
  if (answer === null || !isAnswer(answer) || !asFeed(answer)) return fix(`${says}, but it is not there.`, todo);
  if (answer.asked.length > 1) {
    return fix(`${says}, which redirects to ${answer.url}. Some readers follow no redirects.`, todo);
  }
  const what = answer.bytes.toString() === text ? "it is served too" : "another feed is served";
  return note(`${says}, where ${what}.`, "Give that URL to people, and to this command.");
}

function found({ url, parsed: { twts } }: ServedFeed): Finding {
  if (twts.length === 0) return note(`${url} is a feed without twts.`, "Write a post.");
  return ok(`${url} is a feed with ${counted(twts.length, "twt")}`);
}

function redirected(given: string, { asked, url }: ServedFeed): Finding[] {
  return asked.length > 1
    ? [note(`${given} redirects to ${url}`, "Give people the second URL: some readers follow no redirects.")]
    : [];
}

function notNamed({ url }: Answer, feed: ServedFeed): Finding {
  return note(
    `${url} does not name the feed.`,
    `Put this into the head of your pages: <link rel="alternate" type="text/plain" href="${feed.url}">`,
  );
}

async function feedAt(url: string, probe: Probe): Promise<ServedFeed | null> {
  const answer = await probe(url, { maxBytes: FEED_BYTES });
  return isAnswer(answer) ? asFeed(answer) : null;
}

/** The links of a page to plain text: a feed, or another file such as `/llms.txt`. */
async function feedLinks(page: Answer): Promise<string[]> {
  if (page.status !== 200 || typeOf(page) !== "text/html") return [];
  const elements = [...elementsOf((await parseHtml(page.bytes.toString())).tree)];
  const base = baseOf(elements, page.url);
  const hrefs = elements.filter(isFeedLink).map(({ properties: { href } }) => String(href));
  const urls = hrefs.filter((href) => canParseUrl(href, base)).map((href) => new URL(href, base).href);
  return [...new Set(urls)].slice(0, MAX_LINKS);
}

function isFeedLink({ tagName, properties: { rel, type, href } }: Element): boolean {
  const rels = [rel ?? []].flat().map((one) => String(one).toLowerCase());
  return tagName === "link" && rels.includes("alternate") && /^text\/plain\b/i.test(String(type)) && Boolean(href);
}
