// plugin/cli/doctor/feed-serving.ts: whether a feed is served as its readers need it.
import { isLoopback } from "../../http/loopback.js";
import type { SeenFeed } from "./find-feed.js";
import { type Finding, fix, note, ok, quoted } from "./finding.js";
import { isSeen, type Look, type Seen, typeOf } from "./look.js";

const HOUR = 3600_000;
const DAY_SECONDS = 24 * 3600;

/**
 * @param now - milliseconds since 1970
 * @see PROTOCOL 1.1
 */
export async function checkServing(feed: SeenFeed, look: Look, now: number): Promise<Finding[]> {
  return [
    ...checkScheme(feed.url, "The feed"),
    checkType(feed),
    checkOrigins(feed),
    ...checkAge(feed),
    ...checkModified(feed, now),
    ...(await checkHead(feed, look)),
    ...(await checkConditions(feed, look, now)),
  ];
}

/** http is for trying out on one's own machine. */
export function checkScheme(url: string, what: string): Finding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" || isLoopback(hostname)) return [];
  return [note(`${what} is served without encryption, at ${url}`, "Serve it by https.")];
}

export function checkType(seen: Seen): Finding {
  const type = seen.headers["content-type"];
  const todo = 'Have your host serve it as "text/plain; charset=utf-8".';
  if (type === undefined) return fix(`${seen.url} is served without a Content-Type.`, todo);
  if (typeOf(seen) !== "text/plain") {
    return fix(`${seen.url} is served as ${quoted(type)}. Some readers take plain text alone.`, todo);
  }
  if (!/;\s*charset\s*=\s*"?utf-?8"?\s*(;|$)/i.test(type)) {
    return fix(`${seen.url} is served as ${quoted(type)}. Letters such as ü come out wrong in browsers.`, todo);
  }
  return ok(`${seen.url} is served as text/plain in UTF-8`);
}

function checkOrigins({ headers }: Seen): Finding {
  return headers["access-control-allow-origin"] === "*"
    ? ok("Readers that run in a browser may read the feed")
    : note(
        "Readers that run in a browser may not read the feed.",
        'Have your host send "Access-Control-Allow-Origin: *".',
      );
}

function checkAge({ headers }: Seen): Finding[] {
  const seconds = Number(/(?:^|[\s,])max-age="?(\d+)/i.exec(headers["cache-control"] ?? "")?.[1] ?? 0);
  if (seconds <= DAY_SECONDS) return [];
  return [
    fix(
      `Readers may keep their copy of the feed for ${Math.round(seconds / DAY_SECONDS)} days, and see nothing new until then.`,
      'Have your host send "Cache-Control: no-cache", or a max-age of an hour.',
    ),
  ];
}

/** Some hosts give every file one and the same time. */
function checkModified({ headers, parsed }: SeenFeed, now: number): Finding[] {
  const modified = Date.parse(headers["last-modified"] ?? "");
  const newest = parsed.twts
    .map(({ instant }) => instant)
    .filter((instant) => Date.parse(instant) <= now)
    .reduce((last, instant) => (instant > last ? instant : last), "");
  if (Number.isNaN(modified) || newest === "" || Date.parse(newest) <= modified + HOUR) return [];
  return [
    fix(
      `The feed says that it was last changed at ${new Date(modified).toISOString()}, but its newest twt is of ${newest}.`,
      "Readers who ask for changes alone miss that one. Have your host send the time of the deploy as Last-Modified, or none.",
    ),
  ];
}

async function checkHead(feed: SeenFeed, look: Look): Promise<Finding[]> {
  const head = await look(feed.url, { method: "HEAD" });
  if (!isSeen(head)) return [head];
  if (head.status !== 200) {
    return [
      fix(
        `${feed.url} answers HEAD with ${head.status}.`,
        "Some registries drop a feed for that: have it answer as GET does.",
      ),
    ];
  }
  const others = ["content-type", "last-modified"].filter((name) => head.headers[name] !== feed.headers[name]);
  if (others.length === 0) return [ok("HEAD requests get the same headers as GET")];
  return [fix(`HEAD has another ${others.join(" and ")} than GET.`, "Have your host send the same headers with both.")];
}

/** One peer (timeline) empties its copy of a feed on a 304 without the Last-Modified that it asked by. */
async function checkConditions({ url, headers }: Seen, look: Look, now: number): Promise<Finding[]> {
  const { etag, "last-modified": modified } = headers;
  const byDate = await look(url, { headers: { "if-modified-since": modified ?? new Date(now).toUTCString() } });
  const byTag = etag === undefined ? byDate : await look(url, { headers: { "if-none-match": etag } });
  const copies = [byDate, byTag].filter(isSeen).filter(({ status }) => status === 304);
  if (copies.length === 0) {
    return [
      note(
        "Readers fetch the whole feed each time, changed or not.",
        "Hosts that send an ETag and Last-Modified spare them that.",
      ),
    ];
  }
  const isWrong = (copy: Seen) =>
    copy.headers["last-modified"] === undefined && (modified !== undefined || copy === byDate);
  if (!copies.some(isWrong)) return [ok("Readers with a copy learn whether the feed has changed")];
  return [
    fix(
      'Its "304 Not Modified" has no Last-Modified. One reader empties its copy of the feed then.',
      "Have your host send that header with the 304 too, or answer 200 each time.",
    ),
  ];
}
