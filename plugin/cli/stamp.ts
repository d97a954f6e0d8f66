// plugin/cli/stamp.ts: `eleventy-twtxt stamp` writes dates into posts that have no time of their own.
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { counted, listed } from "../author/amounts.js";
import { readText, replaceText } from "../author/files.js";
import { misuse } from "../author/invocation.js";
import type { Machine } from "../author/machine.js";
import { type ChangedText, readPost, writeField } from "../author/notes/front-matter.js";
import { openGit } from "../author/notes/git.js";
import { loadSite, type Site } from "../author/site.js";
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { formatTimestamp, isDateOnly, toInstant } from "../feed/timestamp.js";
import { command } from "./command.js";
import { FILE, flag, type Kind, option, SETTINGS_OPTION, zeroOrMore } from "./options.js";
import type { Terminal } from "./terminal.js";

const NAME = "stamp";
const SCRIPT = /\.[cm]?[jt]sx?$/i;
const DAY_IN_NAME = /\d{4}-\d{2}-\d{2}/;

const DATE: Kind<string> = {
  name: "DATE",
  expected: "a time that is not midnight UTC, such as 2026-11-20T09:30:00Z",
  parse(value) {
    const timestamp = toInstant(value);
    return timestamp === null || isDateOnly(Date.parse(timestamp)) ? null : timestamp;
  },
};

export const stamp = command({
  name: NAME,
  summary: "writes dates into posts that have no time of their own, or share one",
  usage: "[FILE...] [options]",
  about:
    "Writes an explicit date into posts that have a day only, the same second as another post, or no date. A post keeps the timestamp that the feed gives it now; a post without any date gets the time of its first git commit. One line of the file changes and no other byte. Without FILE: all such posts of the last build.",
  options: {
    "dry-run": flag("lists what would be written, and writes nothing"),
    date: option(DATE, "the date of one FILE that neither the site nor git can date"),
    ...SETTINGS_OPTION,
  },
  words: zeroOrMore(FILE),
  example: `$ eleventy-twtxt stamp --dry-run
posts/hello.md: 2026-01-02 -> 2026-01-02T00:13:37Z
1 post would be stamped. Nothing was written.`,
  async run({ date, settings, "dry-run": isDryRun }, files, terminal) {
    const site = await loadSite(terminal, settings);
    const all = listUnstamped(site);
    const posts = files.length === 0 ? all : files.map((file) => chosen(file, all, terminal));
    if (date !== undefined) checkDate(files, posts);

    const taken = new Set(all.flatMap(({ timestamps }) => timestamps).filter((timestamp) => timestamp !== null));
    const context = { timeZone: site.settings.timeZone, named: date, taken, machine: terminal };
    const count = { stamp: 0, none: 0, leave: 0 };
    for (const post of posts) {
      const leave = ({ message }: TwtxtError): Plan => ({ action: "leave", why: message });
      const plan = await planStamp(post, context, isDryRun).catch(ifTwtxtError(leave));
      show(plan, site.shown(post.file), terminal);
      count[plan.action] += 1;
    }
    terminal.say(posts.length === 0 ? "Every post has a time of its own." : total(count, isDryRun));
    return count.leave > 0 ? 1 : 0;
  },
});

/** A file that, according to the last build, has no time of its own, or the same second as another post. */
interface Unstamped {
  /** Absolute path. */
  file: string;
  /** The timestamps in the feed of its posts, mostly one; `null` for a post that is not in the feed. */
  timestamps: (string | null)[];
  /** Its own time, if another post has the same second. */
  shared?: string | undefined;
}

/** A template that makes several posts is listed once per post. */
function listUnstamped({ settings, file }: Site): Unstamped[] {
  const files = new Map<string, Unstamped>();
  for (const entry of settings.unstamped) {
    const path = file(entry.file);
    const known = files.get(path);
    if (known) known.timestamps.push(entry.timestamp);
    else files.set(path, { file: path, timestamps: [entry.timestamp], shared: entry.shared });
  }
  return [...files.values()];
}

/** A file from the command line; without timestamps if the build did not list it. */
function chosen(named: string, all: Unstamped[], terminal: Terminal): Unstamped {
  const file = resolve(terminal.folder, named);
  if (!existsSync(file)) throw misuse(NAME, `there is no file "${named}".`);
  const isSame = (other: string) => other === file || (existsSync(other) && realpathSync(other) === realpathSync(file));
  return all.find((post) => isSame(post.file)) ?? { file, timestamps: [] };
}

/** @throws TwtxtError `bad-usage` */
function checkDate(files: readonly string[], [post]: readonly Unstamped[]): void {
  if (files.length !== 1) throw misuse(NAME, "--date is for one FILE.");
  const [timestamp] = post?.timestamps ?? [];
  if (!timestamp) return;
  throw misuse(
    NAME,
    `the feed has ${files[0]} at ${timestamp}. Another date would make it another twt; leave --date out.`,
  );
}

type Plan =
  | ({ action: "stamp"; timestamp: string; notes: string[] } & ChangedText)
  /** `leave` for a post that has no time, and cannot get one. */
  | { action: "none" | "leave"; why: string };

interface PlanContext {
  timeZone: string;
  /** The value of --date, for a post without any other date. */
  named: string | undefined;
  /** Timestamps in use. New ones are added. */
  taken: Set<string>;
  machine: Machine;
}

/** @throws TwtxtError if the post cannot be stamped; the message is a clause about the file */
async function planStamp(post: Unstamped, context: PlanContext, isDryRun: boolean): Promise<Plan> {
  const { file, timestamps, shared } = post;
  const [given] = timestamps;
  if (given === undefined) {
    return { action: "none", why: "the last build did not list it as a post without a time" };
  }
  if (SCRIPT.test(file)) throw cannot("a script has no front matter");
  const before = await readText(file);
  if (before === null) throw cannot("it is not UTF-8 text");
  if (timestamps.length > 1)
    throw cannot(`it makes ${timestamps.length} posts, and one date would give them all the same second`);

  const { data, block } = readPost(before);
  if ("date" in Object(data.eleventyComputed))
    throw cannot("its date is computed, so a date in its front matter has no effect");
  const isShared = hasTime(data.date) && readTime(data.date) === shared;
  if (hasTime(data.date) && !isShared) return { action: "none", why: "it has a time of its own" };

  const day = isShared ? null : readDay(data.date);
  if (isStale(day, given, context.timeZone))
    throw cannot("its date has changed since the last build; build the site again");

  const timestamp = given === null ? await newTimestamp(file, context) : givenTimestamp(given, post, context);
  const stamped = writeField(before, "date", new Date(timestamp));
  if (!stamped) return { action: "none", why: "it has this date" };
  const notes = isShared ? [] : notesOnDay(day ?? DAY_IN_NAME.exec(file)?.[0], given);
  if (!block) notes.unshift("it had no front matter, so one was added");
  if (!isDryRun) await replaceText(file, stamped.text);
  return { action: "stamp", timestamp, notes, ...stamped };
}

/** The time of the first commit. Posts of the same commit get consecutive seconds. */
async function newTimestamp(file: string, { named, taken, machine }: PlanContext): Promise<string> {
  if (named !== undefined) return named;
  let time = Date.parse(await firstCommit(file, machine));
  while (taken.has(formatTimestamp(time)) || isDateOnly(time)) time += 1000;
  taken.add(formatTimestamp(time));
  return formatTimestamp(time);
}

function givenTimestamp(given: string, { shared }: Unstamped, { timeZone }: PlanContext): string {
  // In UTC, a date at midnight gives the same second again, unless another post has it too.
  const isKept = timeZone === "UTC" && shared === undefined;
  if (isKept || !isDateOnly(Date.parse(given))) return given;
  throw cannot(`its time in the feed, ${given}, would read as a date without a time; give it another one`);
}

function notesOnDay(day: string | undefined, timestamp: string | null): string[] {
  if (day === undefined || timestamp === null || timestamp.startsWith(day)) return [];
  return [`in UTC this is another day; check pages and permalinks that show ${day}`];
}

function hasTime(date: unknown): boolean {
  const timestamp = readTime(date);
  return timestamp !== null && !isDateOnly(date instanceof Date ? date.getTime() : Date.parse(timestamp));
}

/** A date to the second, in UTC; `null` for an invalid one. */
function readTime(date: unknown): string | null {
  if (date instanceof Date) return formatTimestamp(date);
  return typeof date === "string" ? toInstant(date.trim().replace(" ", "T")) : null;
}

/** The day of a date without a time; `null` for anything else. */
function readDay(date: unknown): string | null {
  if (date instanceof Date) return formatTimestamp(date).slice(0, 10);
  return typeof date === "string" ? (/^\d{4}-\d{2}-\d{2}(?![^T ])/.exec(date.trim())?.[0] ?? null) : null;
}

/** Whether the timestamp in the feed was made from another day than this one. */
function isStale(day: string | null, timestamp: string | null, timeZone: string): boolean {
  if (day === null) return false;
  return (
    timestamp === null ||
    new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short" }).format(new Date(timestamp)) !== day
  );
}

/**
 * The time of the first commit of a file, renames included.
 *
 * @param file - absolute path
 * @returns the author date in UTC, whole seconds
 * @throws TwtxtError `bad-file` if git cannot tell
 */
async function firstCommit(file: string, machine: Machine): Promise<string> {
  const git = openGit(dirname(file), machine);
  const unknown = (why: string) => cannot(`${why}; give its date with --date`);
  const log = await git([
    ...["-c", "log.showSignature=false", "log", "--follow", "--diff-filter=ACR", "--name-status", "--format=%aI"],
    ...["--", basename(file)],
  ]).catch(() => null);
  if (log?.exitCode !== 0) throw unknown("git does not know it");
  const timestamp = readAddition(log.stdout);
  if (timestamp === null) throw unknown("git has no commit of it");
  const { stdout: isShallow } = await git(["rev-parse", "--is-shallow-repository"]);
  if (isShallow === "true") throw unknown("this clone lacks the older commits (git fetch --unshallow brings them)");
  return timestamp;
}

/** The oldest addition, up to a copy: git follows the original too, so a post made from an older one would get its date. */
function readAddition(log: string): string | null {
  let commit: string | null = null;
  let addition: string | null = null;
  for (const line of log.split("\n")) {
    const status = /^([ACR])\d*\t/.exec(line)?.[1];
    if (status === undefined) commit = toInstant(line) ?? commit;
    else if (status !== "R") addition = commit;
    if (status === "C") break;
  }
  return addition;
}

function cannot(why: string): TwtxtError {
  return new TwtxtError("bad-file", why);
}

function show(plan: Plan, file: string, terminal: Terminal): void {
  if (plan.action === "stamp") {
    terminal.print(`${file}: ${plan.old || "no date"} -> ${plan.timestamp}`);
    for (const note of plan.notes) terminal.say(`${file}: ${note}`);
  } else terminal.say(`${file}: ${plan.action === "none" ? "nothing to do" : "not changed"}: ${plan.why}`);
}

function total({ stamp, none, leave }: Record<Plan["action"], number>, isDryRun: boolean): string {
  const others = listed([
    [none, "with nothing to do"],
    [leave, "not changed"],
  ]);
  const counts = `${counted(stamp, "post")} ${isDryRun ? "would be stamped" : "stamped"}${others && `, ${others}`}.`;
  return isDryRun ? `${counts} Nothing was written.` : counts;
}
