// plugin/client/mentions/year.ts: the mentions of a year, counted by week, kind and author.
import type { ManagedMention } from "../../mentions/receive/manage.js";
import type { MentionType } from "../../site/mention-list.js";

/** The kinds of the plot: likes, reposts and bookmarks say nothing of their own. */
export const KINDS = ["mention", "reply", "reaction"] as const;

export type Kind = (typeof KINDS)[number];

const WEEKS = 52;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const WRITERS = 10;

/** The mentions received in a week. */
export interface Week {
  /** Its first day, a Monday, `YYYY-MM-DD`. */
  start: string;
  counts: Readonly<Record<Kind, number>>;
}

export interface Writer {
  name: string;
  /** Their feed or page. */
  url: string;
  count: number;
}

/** The first day of the year that {@link weeksOf} counts. @param now - milliseconds since 1970 */
export function yearStart(now: number): string {
  return dayText(mondayOf(now) - (WEEKS - 1) * WEEK_MS);
}

/** The last 52 weeks, oldest first; weeks begin on Monday, UTC. */
export function weeksOf(mentions: readonly ManagedMention[], now: number): Week[] {
  const weeks = new Map<string, Record<Kind, number>>();
  const first = Date.parse(yearStart(now));
  for (let week = 0; week < WEEKS; week += 1) {
    weeks.set(dayText(first + week * WEEK_MS), { mention: 0, reply: 0, reaction: 0 });
  }
  for (const { received, type } of mentions) {
    const counts = weeks.get(dayText(mondayOf(Date.parse(received))));
    if (counts && type) counts[kindOf(type)] += 1;
  }
  return [...weeks].map(([start, counts]) => ({ start, counts }));
}

/** Who wrote most, at most ten. An author is a feed or page. */
export function writersOf(mentions: readonly ManagedMention[]): Writer[] {
  const writers = new Map<string, Writer>();
  for (const { author } of mentions) {
    if (author === null) continue;
    const known = writers.get(author.url) ?? { name: author.name, url: author.url, count: 0 };
    writers.set(author.url, { ...known, count: known.count + 1 });
  }
  return [...writers.values()].sort((a, b) => b.count - a.count || a.url.localeCompare(b.url)).slice(0, WRITERS);
}

function kindOf(type: MentionType): Kind {
  return type === "mention" || type === "reply" ? type : "reaction";
}

function mondayOf(instant: number): number {
  const day = Math.floor(instant / DAY_MS);
  // The first of January 1970 was a Thursday.
  return (day - ((day + 3) % 7)) * DAY_MS;
}

function dayText(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}
