// plugin/cli/stamp-plan.ts: plans the date of a post without a time, and its new text.
import { TwtxtError } from "../errors.js";
import { formatTimestamp, isDateOnly, toInstant } from "../feed/timestamp.js";
import { readText } from "./files.js";
import { readPost } from "./front-matter.js";
import { type Birth, firstCommit } from "./git.js";
import { stampText } from "./stamp-text.js";

/** A file that has no time of its own, or the same second as another post, according to the last build. */
export interface Unstamped {
  /** Absolute path. */
  file: string;
  /** The timestamps in the feed of its posts, mostly one; `null` for a post that is not in the feed. */
  timestamps: (string | null)[];
  /** Its own time, where another post has the same second. */
  shared?: string | undefined;
}

/** What to do with a file. */
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
  /** It already has a time. */
  | { action: "none"; file: string; why: string }
  /** It has no time, and cannot get one. */
  | { action: "leave"; file: string; why: string };

/** Inputs of a plan besides the file. */
export interface PlanContext {
  timeZone: string;
  /** The value of --date, for a post without any other date. */
  named: string | undefined;
  /** Timestamps in use. New ones are added. */
  taken: Set<string>;
}

const SCRIPT = /\.[cm]?[jt]sx?$/i;
const DAY_IN_NAME = /\d{4}-\d{2}-\d{2}/;

/**
 * Plans one file; changes nothing.
 *
 * @returns a plan to leave the file where its text has a fault
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
  if (SCRIPT.test(file)) return leave("a script has no front matter");
  if (before === null) return leave("it is not UTF-8 text");
  if (timestamps.length > 1)
    return leave(`it makes ${timestamps.length} posts, and one date would give them all the same second`);

  const { data } = readPost(before);
  if ("date" in Object(data.eleventyComputed))
    return leave("its date is computed, so a date in its front matter has no effect");
  const isShared = hasTime(data.date) && timeOf(data.date) === shared;
  if (hasTime(data.date) && !isShared) return { action: "none", file, why: "it has a time of its own" };

  const day = isShared ? null : dayOf(data.date);
  if (isStale(day, given, context.timeZone))
    return leave("its date has changed since the last build; build the site again");

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
    // In UTC, a date at midnight gives the same second again, unless another post has it too.
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
