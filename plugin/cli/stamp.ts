// plugin/cli/stamp.ts: `eleventy-twtxt stamp` writes dates into posts that have no time of their own.
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { isDateOnly, toInstant } from "../feed/timestamp.js";
import { misuse, zeroOrMore } from "./arguments.js";
import { command } from "./command.js";
import { readText, replaceText } from "./files.js";
import { FILE, flag, type Kind, option, SETTINGS_OPTION } from "./options.js";
import { counted } from "./output.js";
import { type Site, siteAt } from "./site.js";
import { type Plan, planStamp, type Unstamped } from "./stamp-plan.js";
import { isStamped } from "./stamp-text.js";
import type { Terminal } from "./terminal.js";

const NAME = "stamp";

const DATE: Kind<string> = {
  name: "DATE",
  expected: "a time that is not midnight UTC, such as 2026-11-20T09:30:00Z",
  parse(value) {
    const timestamp = toInstant(value);
    return timestamp === null || isDateOnly(Date.parse(timestamp)) ? null : timestamp;
  },
};

type Stamping = Extract<Plan, { action: "stamp" }>;

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
    const site = await siteAt(terminal, settings);
    const all = unstampedOf(site);
    const posts = files.length === 0 ? all : files.map((file) => chosen(file, all, terminal));
    if (date !== undefined) checkDate(files, posts);

    const context = { timeZone: site.settings.timeZone, named: date, taken: takenIn(all) };
    const count = { stamp: 0, none: 0, leave: 0 };
    for (const post of posts) {
      const plan = post.timestamps.length === 0 ? notListed(post.file) : await planStamp(post, context);
      const done = plan.action === "stamp" && !isDryRun ? await write(plan) : plan;
      show(done, site.shown(post.file), terminal);
      count[done.action] += 1;
    }
    terminal.say(posts.length === 0 ? "Every post has a time of its own." : total(count, isDryRun));
    return count.leave > 0 ? 1 : 0;
  },
});

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

/** A template that makes several posts is listed once per post. */
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

/** A file from the command line; without timestamps where the build did not list it. */
function chosen(named: string, all: Unstamped[], terminal: Terminal): Unstamped {
  const file = resolve(terminal.folder, named);
  if (!existsSync(file)) throw misuse(NAME, `there is no file "${named}".`);
  const isSame = (other: string) => other === file || (existsSync(other) && realpathSync(other) === realpathSync(file));
  return all.find((post) => isSame(post.file)) ?? { file, timestamps: [] };
}

function notListed(file: string): Plan {
  return { action: "none", file, why: "the last build did not list it as a post without a time" };
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
    return { action: "leave", file, why: "it did not read back as written, and was restored" };
  } catch (error) {
    if (error instanceof TwtxtError) return { action: "leave", file, why: error.message };
    throw error;
  }
}

function show(plan: Plan, file: string, terminal: Terminal): void {
  if (plan.action === "none") terminal.say(`${file}: nothing to do: ${plan.why}`);
  else if (plan.action === "leave") terminal.say(`${file}: not changed: ${plan.why}`);
  else {
    terminal.print(`${file}: ${plan.old || "no date"} -> ${plan.timestamp}`);
    for (const note of plan.notes) terminal.say(`${file}: ${note}`);
  }
}

function total({ stamp, none, leave }: Record<Plan["action"], number>, isDryRun: boolean): string {
  const posts = counted(stamp, "post");
  const others = [...(none > 0 ? [`${none} with nothing to do`] : []), ...(leave > 0 ? [`${leave} not changed`] : [])];
  const counts = [isDryRun ? `${posts} would be stamped` : `${posts} stamped`, ...others].join(", ");
  return isDryRun ? `${counts}. Nothing was written.` : `${counts}.`;
}
