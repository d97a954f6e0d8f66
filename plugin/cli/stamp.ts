// plugin/cli/stamp.ts: `eleventy-twtxt stamp` writes dates into posts that have no time of their own.
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { isDateOnly, toInstant } from "../feed/timestamp.js";
import { misuse, readArguments } from "./command.js";
import { readText, replaceText } from "./files.js";
import { type Site, siteAt } from "./site.js";
import { type Plan, planStamp, type Unstamped } from "./stamp-plan.js";
import { isStamped } from "./stamp-text.js";
import type { Terminal } from "./terminal.js";

export const name = "stamp";
export const summary = "writes dates into posts that have no time of their own, or share one";
export const help = `Usage: eleventy-twtxt stamp [FILE...] [options]

Writes an explicit date into posts that have a day only, the same second as another post, or no
date at all. A post keeps the very timestamp that the feed gives it now; one without any date gets
the time of its first git commit. One line of the file changes and no other byte. Without FILE: all such posts of the last build.

  --dry-run          lists what would be written, and writes nothing
  --date DATE        the date of one FILE that neither the site nor git can date
  --settings FILE    the settings of the site (default .eleventy-twtxt/settings.json)

Example:
  $ eleventy-twtxt stamp --dry-run
  posts/hello.md: 2026-01-02 -> 2026-01-02T00:13:37Z
  1 post would be stamped. Nothing was written.`;

const OPTIONS = { "dry-run": { type: "boolean" }, date: { type: "string" } } as const;

type Stamping = Extract<Plan, { action: "stamp" }>;

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const date = checkDate(values.date, positionals);
  const site = await siteAt(terminal, values.settings);
  const all = unstampedOf(site);
  const posts = positionals.length === 0 ? all : positionals.map((file) => chosen(file, all, terminal));
  if (date !== undefined && posts[0]?.timestamps[0]) {
    throw misuse(
      `stamp: the feed has ${positionals[0]} at ${posts[0].timestamps[0]}, and another date would make it another twt; leave --date out.`,
      name,
    );
  }

  const context = { timeZone: site.settings.timeZone, named: date, taken: takenIn(all) };
  const count = { stamp: 0, none: 0, leave: 0 };
  for (const post of posts) {
    const plan = post.timestamps.length === 0 ? notListed(post.file) : await planStamp(post, context);
    const done = plan.action === "stamp" && !values["dry-run"] ? await write(plan) : plan;
    tell(done, site.shown(post.file), terminal);
    count[done.action] += 1;
  }
  terminal.say(posts.length === 0 ? "Every post has a time of its own." : total(count, values["dry-run"] ?? false));
  return count.leave > 0 ? 1 : 0;
}

function checkDate(date: string | undefined, files: string[]): string | undefined {
  if (date === undefined) return undefined;
  const timestamp = toInstant(date);
  if (timestamp === null || isDateOnly(Date.parse(timestamp))) {
    throw misuse(
      `stamp: expected --date with a time that is not midnight UTC, such as 2026-11-20T09:30:00Z, got "${date}".`,
      name,
    );
  }
  if (files.length !== 1) throw misuse("stamp: --date is for one FILE.", name);
  return timestamp;
}

/** A template that makes several posts is listed once for each. */
function unstampedOf({ settings, file }: Site): Unstamped[] {
  const files = new Map<string, Unstamped>();
  for (const entry of settings.unstamped) {
    const path = file(entry.file);
    const known = files.get(path);
    if (known) known.timestamps.push(entry.timestamp);
    else files.set(path, { file: path, timestamps: [entry.timestamp], shared: entry.shared });
  }
  return [...files.values()];
}

/** A file that was named; without timestamps where the build did not list it. */
function chosen(named: string, all: Unstamped[], terminal: Terminal): Unstamped {
  const file = resolve(terminal.folder, named);
  if (!existsSync(file)) throw misuse(`stamp: there is no file "${named}".`, name);
  const isSame = (other: string) => other === file || (existsSync(other) && realpathSync(other) === realpathSync(file));
  return all.find((post) => isSame(post.file)) ?? { file, timestamps: [] };
}

function notListed(file: string): Plan {
  return { action: "none", file, why: "the last build did not find it among the posts without a time" };
}

function takenIn(posts: Unstamped[]): Set<string> {
  return new Set(posts.flatMap(({ timestamps }) => timestamps.filter((timestamp) => timestamp !== null)));
}

async function write(plan: Stamping): Promise<Plan> {
  const { file, before, after, timestamp } = plan;
  try {
    await replaceText(file, after);
    const written = await readText(file);
    if (written === after && isStamped(before, written, timestamp)) return plan;
    await replaceText(file, before);
    return { action: "leave", file, why: "it did not read back as written, and is as it was" };
  } catch (error) {
    if (error instanceof TwtxtError) return { action: "leave", file, why: error.message };
    throw error;
  }
}

function tell(plan: Plan, file: string, terminal: Terminal): void {
  if (plan.action === "none") terminal.say(`${file}: nothing to do: ${plan.why}`);
  else if (plan.action === "leave") terminal.say(`${file}: left alone: ${plan.why}`);
  else {
    terminal.print(`${file}: ${plan.old || "no date"} -> ${plan.timestamp}`);
    for (const note of plan.notes) terminal.say(`${file}: ${note}`);
  }
}

function total({ stamp, none, leave }: Record<Plan["action"], number>, isDryRun: boolean): string {
  const posts = `${stamp} ${stamp === 1 ? "post" : "posts"}`;
  const others = [...(none > 0 ? [`${none} with nothing to do`] : []), ...(leave > 0 ? [`${leave} left alone`] : [])];
  const counts = [isDryRun ? `${posts} would be stamped` : `${posts} stamped`, ...others].join(", ");
  return isDryRun ? `${counts}. Nothing was written.` : `${counts}.`;
}
