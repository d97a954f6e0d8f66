// plugin/cli/publish.ts: publishes files by git, after a question on the terminal.
import { endingOf } from "../author/machine.js";
import {
  afterPush,
  type Publication,
  type Publishable,
  planPublication,
  publish,
  whyFollow,
} from "../author/notes/publish.js";
import type { Site } from "../author/site.js";
import { lineShownSafely, type Terminal } from "./terminal.js";

const YES = /^\s*y(es)?\s*$/i;
const NO = /^\s*no?\s*$/i;

/**
 * Shows the commands that publish new files, and runs them if the author agrees. Asks first whether the file of followed
 * feeds goes with them, if it has changed.
 *
 * @returns the exit code
 * @throws TwtxtError `not-published`
 */
export async function publishIfConfirmed(
  content: Omit<Publishable, "hasFollow">,
  site: Site,
  terminal: Terminal,
): Promise<number> {
  const plan = await planWithFollow(content, site, terminal);
  for (const line of plan === null ? [] : linesOf(plan)) terminal.say(line);
  const answer = plan && (await terminal.ask("Run these commands? [y/N] "));
  if (plan === null || !YES.test(answer ?? "")) {
    terminal.say("Nothing was published. The note is saved.");
    return 1;
  }
  await publish(plan, {
    ...{ site, machine: terminal, signal: endingOf(terminal) },
    onCommand: ({ shown }) => terminal.say(`$ ${lineShownSafely(shown)}`),
    onOutput: (line) => terminal.say(lineShownSafely(line)),
  });
  terminal.say(`Published to ${plan.remote}. ${afterPush(site)}`);
  return 0;
}

/** @returns `null` if the author interrupts the question */
async function planWithFollow(
  content: Omit<Publishable, "hasFollow">,
  site: Site,
  terminal: Terminal,
): Promise<Publication | null> {
  const plan = await planPublication({ ...content, hasFollow: true }, site, terminal);
  if (plan.follow === null) return plan;
  terminal.say(lineShownSafely(whyFollow(plan.follow)));
  const answer = await terminal.ask(lineShownSafely(`Publish ${plan.follow}, too? [Y/n] `));
  if (answer === null) return null;
  return NO.test(answer) ? planPublication({ ...content, hasFollow: false }, site, terminal) : plan;
}

function linesOf({ commands, earlier, remote }: Publication): string[] {
  const others = earlier.map((subject) => lineShownSafely(`  ${subject}`));
  return [
    "To publish:",
    ...commands.map(({ shown }) => lineShownSafely(`  ${shown}`)),
    ...(others.length > 0 ? [`The push also publishes earlier commits that ${remote} does not have:`, ...others] : []),
  ];
}
