// plugin/feed/followers.ts: followers of a feed, from the User-Agent of their clients.
import * as v from "valibot";
import { compareTexts } from "../groups.js";
import { webUrlOrNull } from "../web-url.js";
import { isNick } from "./mention.js";

export const FOLLOWER = v.object({
  /** `null` for a client of several followers. */
  nick: v.nullable(v.string()),
  /** The follower's feed, or the page that lists the client's followers. */
  url: v.string(),
  /** Name and version of the client. */
  client: v.string(),
  /** The times of the first and the last request, `YYYY-MM-DDThh:mm:ssZ`. */
  firstSeen: v.string(),
  lastSeen: v.string(),
});

export type SeenFollower = v.InferOutput<typeof FOLLOWER>;
/** A follower, or a client that reads a feed for several followers. */
export type Follower = Omit<SeenFollower, "firstSeen" | "lastSeen">;

const MAX_LENGTH = 1000;
const ONE = /^(\S{1,100}) \(\+(https?:\/\/[^\s;]+); @([^\s;)]+)\)/;
const SEVERAL = /^(\S{1,100}) \(~(https?:\/\/[^\s;]+); contact=[^)]*\)/;

/**
 * Date, request line, status, size, referrer, User-Agent. What follows a repetition never continues it, and a date is
 * short, so that a line takes time in proportion to its length.
 */
const COMBINED =
  /\[([^[\]]{1,40})\] "(?:GET|HEAD) ([^\s"]+)(?:\s[^"]*)?" (\d{3}) [^\s"]+ "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"/;
const DATE = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * Parses `client/version (+feed url; @nick)` and, for several followers, `client/version (~page url; contact=url)`.
 *
 * @returns `null` for anything else, and for a URL with a user name or password
 * @example parseFollower("twtxt/1.3.1 (+https://bob.example/twtxt.txt; @bob)") // { nick: "bob", url: "https://bob.example/twtxt.txt", client: "twtxt/1.3.1" }
 * @see twtxt.readthedocs.io/en/latest/user/discoverability.html; twtxt.dev/exts/multiuser-user-agent.html
 */
export function parseFollower(userAgent: string): Follower | null {
  if (userAgent.length > MAX_LENGTH) return null;
  const [, client, url, nick = null] = ONE.exec(userAgent) ?? SEVERAL.exec(userAgent) ?? [];
  if (client === undefined || url === undefined || webUrlOrNull(url) === null) return null;
  return nick === null || isNick(nick) ? { nick, url, client } : null;
}

/**
 * Parses a line of an access log in the combined format, as Apache and nginx write it.
 *
 * @returns the request, with its time as `YYYY-MM-DDThh:mm:ssZ`; `null` for anything else
 */
export function parseLogLine(line: string) {
  const [, date = "", path = "", status, userAgent = ""] = COMBINED.exec(line) ?? [];
  const [, day, month = "", year, time, hours, minutes] = DATE.exec(date) ?? [];
  const instant = new Date(
    `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, "0")}-${day}T${time}${hours}:${minutes}`,
  );
  if (Number.isNaN(instant.getTime())) return null;
  return {
    path,
    status: Number(status),
    userAgent: userAgent.replace(/\\(.)/g, "$1"),
    time: `${instant.toISOString().slice(0, 19)}Z`,
  };
}

/** Followers by the URL of their feed, each with the client of the newest request. */
export class FollowerList {
  readonly #byUrl = new Map<string, SeenFollower>();

  constructor(known: Iterable<SeenFollower> = []) {
    for (const follower of known) this.#add(follower);
  }

  get size(): number {
    return this.#byUrl.size;
  }

  /** @param url - of the follower's feed */
  has(url: string): boolean {
    return this.#byUrl.has(url);
  }

  /** Adds a request for the feed. @param time - `YYYY-MM-DDThh:mm:ssZ` */
  add(follower: Follower, time: string): void {
    this.#add({ ...follower, firstSeen: time, lastSeen: time });
  }

  #add(follower: SeenFollower): void {
    const known = this.#byUrl.get(follower.url) ?? follower;
    const newest = follower.lastSeen >= known.lastSeen ? follower : known;
    const firstSeen = known.firstSeen < follower.firstSeen ? known.firstSeen : follower.firstSeen;
    this.#byUrl.set(follower.url, { ...newest, firstSeen });
  }

  /**
   * The followers, most recently seen first. Anyone can send any User-Agent, so over the limit, those stay who were seen on
   * several days, the longest known first, and then the most recent others.
   *
   * @param limit - the maximum number
   */
  list(limit: number): SeenFollower[] {
    const all = [...this.#byUrl.values()].sort((a, b) => compareTexts(b.lastSeen, a.lastSeen));
    if (all.length <= limit) return all;
    const regular = all.filter(isRegular).sort((a, b) => compareTexts(a.firstSeen, b.firstSeen));
    const others = all.filter((follower) => !isRegular(follower));
    const kept = new Set([...regular, ...others].slice(0, limit));
    return all.filter((follower) => kept.has(follower));
  }
}

/** Whether a follower was seen on several days, UTC. */
function isRegular({ firstSeen, lastSeen }: SeenFollower): boolean {
  return firstSeen.slice(0, 10) !== lastSeen.slice(0, 10);
}
