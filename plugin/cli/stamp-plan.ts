// plugin/cli/stamp-plan.ts: which date a post without a time is to get, and how its text then reads.
import { TwtxtError } from "../errors.js";
import { formatTimestamp, isDateOnly, toInstant } from "../feed/timestamp.js";
import { readText } from "./files.js";
import { readPost } from "./front-matter.js";
import { type Birth, firstCommit } from "./git.js";
import { stampText } from "./stamp-text.js";

/** A file that the last build found to have no time of its own, or the same second as another post. */
export interface Unstamped {
  /** Absolute path. */
  file: string;
  /** What the feed gives the posts that come from it: mostly one; `null` where it can give none. */
  timestamps: (string | null)[];
  /** The time that it has, where another post stands at that second. */
  shared?: string | undefined;
}

/** What is to be done with a file. */
export type Plan =
  | {
      action: "stamp";
      file: string;
      timestamp: string;
      before: string;
      after: string;
      old: string | null;
      notes: string[];
    }
  /** It has a time already. */
  | { action: "none"; file: string; why: string }
  /** It has no time, and gets none. */
  | { action: "leave"; file: string; why: string };

/** What a plan depends on besides the file. */
export interface PlanContext {
  timeZone: string;
  /** The date that the author names for a post that nothing else dates. */
  named: string | undefined;
  /** Timestamps in use; those that are given out are added. */
  taken: Set<string>;
}

const SCRIPT = /\.[cm]?[jt]sx?$/i;
const DAY_IN_NAME = /\d{4}-\d{2}-\d{2}/;

/**
 * Plans one file; changes nothing.
 *
 * @throws nothing that concerns this file alone: that is a plan to leave it
 */
export async function planStamp(post: Unstamped, context: PlanContext): Promise<Plan> {
  const { file } = post;
  try {
    return await planText(post, await readText(file), context);
  } catch (error) {
    if (error instanceof TwtxtError) return { action: "leave", file, why: error.message };
    throw error;
  }
}

async function planText(post: Unstamped, before: string | null, context: PlanContext): Promise<Plan> {
  const { file, timestamps, shared } = post;
  const leave = (why: string): Plan => ({ action: "leave", file, why });
  const [given = null] = timestamps;
  if (SCRIPT.test(file)) return leave("a script has no front matter that could be changed");
  if (before === null) return leave("it is no text in UTF-8");
  if (timestamps.length > 1)
    return leave(`${timestamps.length} posts come from it, and one date would put all into one second`);

  const { data } = readPost(before);
  if ("date" in Object(data.eleventyComputed)) return leave("its date is computed, and a written one would not count");
  const isShared = hasTime(data.date) && timeOf(data.date) === shared;
  if (hasTime(data.date) && !isShared) return { action: "none", file, why: "it has a time of its own" };

  const day = isShared ? null : dayOf(data.date);
  if (isStale(day, given, context.timeZone))
    return leave("its date was changed since the last build; build the site again");

  const date = await timestampFor(post, context);
  if ("why" in date) return leave(date.why);
  const { timestamp } = date;
  const stamped = stampText(before, timestamp);
  if (stamped.outcome === "refused") return leave(stamped.why);
  if (stamped.outcome === "unchanged") return { action: "none", file, why: "it has this date" };

  const notes = [
    ...(stamped.hasNewFrontMatter ? ["it had no front matter, and has some now"] : []),
    ...(!isShared && isAnotherDay(day ?? DAY_IN_NAME.exec(file)?.[0], given)
      ? [`in UTC this is another day; check pages and permalinks that show ${day ?? "it"}`]
      : []),
  ];
  return { action: "stamp", file, timestamp, before, after: stamped.text, old: stamped.old, notes };
}

async function timestampFor(
  { file, timestamps: [given = null], shared }: Unstamped,
  { timeZone, named, taken }: PlanContext,
): Promise<Birth> {
  if (given !== null) {
    // In UTC a date at midnight leads to the same second again, unless the post has moved there.
    const isKept = timeZone === "UTC" && shared === undefined;
    if (isKept || !isDateOnly(Date.parse(given))) return { timestamp: given };
    return { why: `its time in the feed, ${given}, would read as a date without a time; give it another one` };
  }
  if (named !== undefined) return { timestamp: named };

  const birth = await firstCommit(file);
  if ("why" in birth) return { why: `${birth.why}; say when it was written with --date` };
  return { timestamp: takeNextFree(birth.timestamp, taken) };
}

/** Posts that came with one commit follow each other by a second. */
function takeNextFree(timestamp: string, taken: Set<string>): string {
  let time = Date.parse(timestamp);
  while (taken.has(formatTimestamp(time)) || isDateOnly(time)) time += 1000;
  taken.add(formatTimestamp(time));
  return formatTimestamp(time);
}

function hasTime(date: unknown): boolean {
  const timestamp = timeOf(date);
  return timestamp !== null && !isDateOnly(date instanceof Date ? date.getTime() : Date.parse(timestamp));
}

/** A date to the second, in UTC; `null` where it cannot be read. */
function timeOf(date: unknown): string | null {
  if (date instanceof Date) return formatTimestamp(date);
  return typeof date === "string" ? toInstant(date.trim().replace(" ", "T")) : null;
}

/** The day of a date without a time; `null` for anything else. */
function dayOf(date: unknown): string | null {
  if (date instanceof Date) return formatTimestamp(date).slice(0, 10);
  return typeof date === "string" ? (/^\d{4}-\d{2}-\d{2}(?![^T ])/.exec(date.trim())?.[0] ?? null) : null;
}

/** The timestamp that the feed gives was made from the day; not from this one, if they do not meet. */
function isStale(day: string | null, timestamp: string | null, timeZone: string): boolean {
  if (day === null) return false;
  return (
    timestamp === null ||
    new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short" }).format(new Date(timestamp)) !== day
  );
}

function isAnotherDay(day: string | undefined, timestamp: string | null): boolean {
  return day !== undefined && timestamp !== null && !timestamp.startsWith(day);
}
