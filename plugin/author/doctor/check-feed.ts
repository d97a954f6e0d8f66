// plugin/author/doctor/check-feed.ts: finds the feed of a site, and checks its URL and the headers that it is served with.
import { type FeedHeader, type ParsedFeed, type ParsedTwt, parseFeed } from "../../feed/feed.js";
import { FEED_BYTES, isFeed, startsAsMarkup } from "../../http/feed-file.js";
import { canParseUrl, isLoopback } from "../../url.js";
import { counted } from "../amounts.js";
import { feedLinks, USUAL_PLACE } from "../timeline/followed-feeds.js";
import { type Answer, answerOrNull, atHost, type Finding, fix, note, ok, type Probe, quoted } from "./check.js";

export interface ServedFeed extends Answer {
  text: string;
  parsed: ParsedFeed;
  header: FeedHeader;
}

const HOUR = 3600_000;
const DAY_SECONDS = 24 * 3600;

/**
 * Looks for the feed: at the given URL, in the links of the page there, or at `/twtxt.txt`.
 *
 * @param given - of a feed, of a page or of a site
 * @returns `null` for no feed
 */
export async function* findFeed(given: string, probe: Probe): AsyncGenerator<Finding, ServedFeed | null> {
  const first = await probe(given, { maxBytes: FEED_BYTES });
  const feed = asFeed(first);
  if (feed) {
    yield found(feed);
    if (feed.asked.length > 1) {
      yield note(`${given} redirects to ${feed.url}`, "Give people the second URL: some readers follow no redirects.");
    }
    return feed;
  }
  const isPage = first.status === 200 && first.type === "text/html";
  for (const link of isPage ? await feedLinks(first.bytes.toString(), first.url) : []) {
    const linked = await fetchFeed(link, probe);
    if (!linked) continue;
    yield ok(`${first.url} names the feed ${link}`);
    yield found(linked);
    return linked;
  }
  const page = new URL(first.url);
  const usual = page.pathname === "/" ? await probe(new URL(USUAL_PLACE, page).href, { maxBytes: FEED_BYTES }) : first;
  const unnamed = asFeed(usual);
  if (!unnamed) {
    yield noFeed(usual);
    return null;
  }
  yield found(unnamed);
  const link = `<link rel="alternate" type="text/plain" href="${unnamed.url}">`;
  yield note(`${first.url} does not name the feed.`, `Put this into the head of your pages: ${link}`);
  return unnamed;
}

function found({ url, parsed: { twts } }: ServedFeed): Finding {
  if (twts.length === 0) return note(`${url} is a feed without twts.`, "Write a post, build and deploy.");
  return ok(`${url} is a feed with ${counted(twts.length, "twt")}`);
}

/** @returns `null` if the answer is not a feed */
export function asFeed(answer: Answer): ServedFeed | null {
  const text = answer.bytes.toString();
  if (answer.status !== 200 || startsAsMarkup(text)) return null;
  const parsed = parseFeed(text);
  return isFeed(parsed) ? { ...answer, text, parsed, header: parsed.header } : null;
}

export function noFeed({ status, url, headers }: Answer): Finding {
  if (status === 200) {
    const type = headers["content-type"];
    const what = `${url} is not a feed${type === undefined ? "" : `, but ${quoted(type)}`}.`;
    return fix(
      what,
      "Build and deploy the site. If the feed has another URL, give that one, such as https://alice.example/twtxt.txt",
    );
  }
  if (status === 404 || status === 410) {
    return fix(`There is nothing at ${url} (${status}).`, "Build and deploy the site, or give the URL of its feed.");
  }
  if (status >= 500) return fix(`${url} answers ${status}.`, "Try again later. The log of your host may say why.");
  const todo = "Turn off the protection of your host against programs for this URL: readers of feeds are programs.";
  return fix(`${url} is refused (${status}).`, todo);
}

async function fetchFeed(url: string, probe: Probe): Promise<ServedFeed | null> {
  const answer = await answerOrNull(probe(url, { maxBytes: FEED_BYTES }));
  return answer && asFeed(answer);
}

/**
 * @param now - milliseconds since 1970
 * @see PROTOCOL 1.1
 */
export function* checkHeaders(feed: ServedFeed, now: number): Generator<Finding> {
  yield* checkScheme(feed.url, "The feed");
  yield checkType(feed);
  yield feed.isForBrowsers
    ? ok("Readers that run in a browser can read the feed (Access-Control-Allow-Origin)")
    : note(
        "Readers that run in a browser cannot read the feed.",
        atHost('Have your host send "Access-Control-Allow-Origin: *".'),
      );

  const maxAge = /(?:^|[\s,])max-age="?(\d+)/i.exec(feed.headers["cache-control"] ?? "")?.[1];
  const days = Number(maxAge ?? 0) / DAY_SECONDS;
  if (days > 1) {
    yield fix(
      `Readers may cache the feed for ${Math.round(days)} days, and see nothing new until then.`,
      'Have your host send "Cache-Control: no-cache", or a max-age of an hour.',
    );
  }
  yield* checkModified(feed, now);
}

export function* checkScheme(url: string, what: string): Generator<Finding> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" || isLoopback(hostname)) return;
  yield note(`${what} is served without encryption, at ${url}`, "Serve it over https.");
}

export function checkType(answer: Answer): Finding {
  const type = answer.headers["content-type"];
  const todo = atHost('Have your host serve it as "text/plain; charset=utf-8".');
  if (type === undefined) return fix(`${answer.url} is served without a Content-Type.`, todo);
  const served = `${answer.url} is served as ${quoted(type)}.`;
  if (answer.type !== "text/plain") return fix(`${served} Some readers accept only plain text.`, todo);
  const isUtf8 = /;\s*charset\s*=\s*"?utf-?8"?\s*(;|$)/i.test(type);
  if (!isUtf8) return fix(`${served} Browsers show letters such as ü incorrectly.`, todo);
  return ok(`${answer.url} is served as plain text, in which letters such as ü are right (UTF-8)`);
}

/** Some hosts send the same time for every file. */
function* checkModified({ headers, parsed }: ServedFeed, now: number): Generator<Finding> {
  const modified = Date.parse(headers["last-modified"] ?? "");
  const newest = findNewest(parsed.twts.filter(({ instant }) => Date.parse(instant) <= now))?.instant ?? "";
  if (!(Date.parse(newest) > modified + HOUR)) return;
  yield fix(
    `The feed seems older than its newest twt: its Last-Modified header is ${new Date(modified).toISOString()}, but that twt is from ${newest}.`,
    "Readers that only ask for changes miss that twt. Have your host send the time of the deploy as Last-Modified, or omit the header.",
  );
}

/** The twt with the latest time; the last one of several. */
export function findNewest(twts: readonly ParsedTwt[]): ParsedTwt | undefined {
  const latest = twts
    .map(({ instant }) => instant)
    .toSorted()
    .at(-1);
  return twts.findLast(({ instant }) => instant === latest);
}

export async function* checkHead(feed: ServedFeed, probe: Probe): AsyncGenerator<Finding> {
  const head = await probe(feed.url, { method: "HEAD" });
  const others = ["content-type", "last-modified"].filter((name) => head.headers[name] !== feed.headers[name]);
  if (head.status !== 200) {
    const todo = "Some registries drop such a feed. Have your host answer HEAD like GET.";
    const what = `Readers cannot ask about the feed without downloading it: ${feed.url} answers HEAD with ${head.status}.`;
    yield fix(what, todo);
  } else if (others.length > 0) {
    const what = `Readers that ask about the feed without downloading it get wrong facts: HEAD and GET send a different ${others.join(" and ")}.`;
    yield fix(what, "Have your host send the same headers with both.");
  } else yield ok("Readers can ask for the type and the date of the feed without downloading it (HEAD)");
}

/**
 * One peer (timeline) empties its copy of a feed on a 304 without the Last-Modified that it sent.
 *
 * @param now - milliseconds since 1970
 */
export async function* checkConditions({ url, headers }: Answer, probe: Probe, now: number): AsyncGenerator<Finding> {
  const { etag, "last-modified": modified } = headers;
  const byDate = await probe(url, { headers: { "if-modified-since": modified ?? new Date(now).toUTCString() } });
  const byTag = etag === undefined ? byDate : await probe(url, { headers: { "if-none-match": etag } });
  const copies = [byDate, byTag].filter(({ status }) => status === 304);
  const isWrong = (copy: Answer) =>
    copy.headers["last-modified"] === undefined && (modified !== undefined || copy === byDate);
  if (copies.length === 0) {
    const todo = "Have your host send the headers ETag and Last-Modified.";
    yield note("Readers download the whole feed each time, changed or not.", todo);
  } else if (copies.some(isWrong)) {
    const todo = "Have your host send that header with the 304 too, or answer 200 each time.";
    const what = 'One reader empties its copy of the feed, because "304 Not Modified" comes without Last-Modified.';
    yield fix(what, todo);
  } else yield ok("Readers download the feed only if it has changed (ETag, Last-Modified)");
}

/** Checks that the URL that a feed gives as its own leads to it, without redirects. */
export async function* checkOwnUrl(feed: ServedFeed, probe: Probe): AsyncGenerator<Finding> {
  const [own, ...others] = feed.header.url ?? [];
  if (own === undefined) {
    const todo = `Add "# url = ${feed.url}" at the top: the hashes in replies to your twts are made with it.`;
    return yield fix("The feed does not give its URL.", todo);
  }
  yield await checkPlace(own, feed, probe);
  if (others.length === 0) return;
  const todo = "Hashes are made with the first one; it should be the URL that you give to people.";
  yield note(`The feed has ${others.length + 1} lines "# url = ...".`, todo);
}

async function checkPlace(own: string, { url, text }: ServedFeed, probe: Probe): Promise<Finding> {
  if (canParseUrl(own) && new URL(own).href === url) return ok(`The feed names its own URL, ${url}`);
  const says = `The feed says that its URL is ${quoted(own)}`;
  const todo = `Serve it there, or write "# url = ${url}". Another URL changes the hashes in replies to your twts, so change it at most once.`;
  const there = canParseUrl(own) ? await fetchFeed(own, probe) : null;
  if (!there) return fix(`${says}, but it is not there.`, todo);
  if (there.asked.length > 1) {
    return fix(`${says}, which redirects to ${there.url}. Some readers follow no redirects.`, todo);
  }
  const what = there.text === text ? "it is served too" : "another feed is served";
  return note(`${says}, where ${what}.`, "Give that URL to people, and to this command.");
}
