// plugin/feed/followers.ts: followers of a feed, from the User-Agent of their clients.
import { canParseUrl } from "../url.js";
import { isNick } from "./mention.js";

/** A follower, or a client that reads a feed for several followers. */
export interface Follower {
  /** `null` for a client of several followers. */
  nick: string | null;
  /** The follower's feed, or the page that lists the client's followers. */
  url: string;
  /** Name and version of the client. */
  client: string;
}

/** A follower with the time of the last request. */
export interface SeenFollower extends Follower {
  /** `YYYY-MM-DDThh:mm:ssZ` */
  lastSeen: string;
}

/** A request from the access log of a web server. */
export interface LoggedRequest {
  path: string;
  status: number;
  userAgent: string;
  /** `YYYY-MM-DDThh:mm:ssZ` */
  time: string;
}

const MAX_LENGTH = 1000;
const ONE = /^(\S{1,100}) \(\+(https?:\/\/[^\s;]+); @([^\s;)]+)\)/;
const SEVERAL = /^(\S{1,100}) \(~(https?:\/\/[^\s;]+); contact=[^)]*\)/;

/** Address, user, date, request line, status, size, referrer, User-Agent. */
const COMBINED = /^\S+ \S+ .*?\[([^\]]+)\] "(?:GET|HEAD) (\S+)[^"]*" (\d{3}) \S+ "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"/;
const DATE = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})$/;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * Parses `client/version (+feed url; @nick)` and, for several followers, `client/version (~page url; contact=url)`.
 *
 * @returns `null` for anything else
 * @example parseFollower("twtxt/1.3.1 (+https://bob.example/twtxt.txt; @bob)") // { nick: "bob", url: "https://bob.example/twtxt.txt", client: "twtxt/1.3.1" }
 * @see twtxt.readthedocs.io/en/latest/user/discoverability.html; twtxt.dev/exts/multiuser-user-agent.html
 */
export function parseFollower(userAgent: string): Follower | null {
  if (userAgent.length > MAX_LENGTH) return null;
  const [, client, url, nick = null] = ONE.exec(userAgent) ?? SEVERAL.exec(userAgent) ?? [];
  if (client === undefined || url === undefined || !canParseUrl(url)) return null;
  return nick === null || isNick(nick) ? { nick, url, client } : null;
}

/**
 * Parses a line of an access log in the combined format, as Apache and nginx write it.
 *
 * @returns `null` for anything else
 */
export function parseLogLine(line: string): LoggedRequest | null {
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

/** Followers by the URL of their feed, each with the newest request. */
export class FollowerList {
  readonly #byUrl = new Map<string, SeenFollower>();

  constructor(known: Iterable<SeenFollower> = []) {
    for (const follower of known) this.#add(follower);
  }

  get size(): number {
    return this.#byUrl.size;
  }

  /**
   * Adds a request for the feed.
   *
   * @param time - `YYYY-MM-DDThh:mm:ssZ`
   * @returns whether a follower made it
   */
  add(userAgent: string, time: string): boolean {
    const follower = parseFollower(userAgent);
    if (follower) this.#add({ ...follower, lastSeen: time });
    return follower !== null;
  }

  #add(follower: SeenFollower): void {
    if (follower.lastSeen >= (this.#byUrl.get(follower.url)?.lastSeen ?? "")) this.#byUrl.set(follower.url, follower);
  }

  /** The followers that were seen last, newest first. @param limit - the maximum number */
  newest(limit: number): SeenFollower[] {
    return [...this.#byUrl.values()].sort((a, b) => (a.lastSeen < b.lastSeen ? 1 : -1)).slice(0, limit);
  }
}
