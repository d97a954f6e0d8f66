// plugin/cli/publish.ts: publishes files by git, after a question on the terminal.
import { endingOf } from "../author/machine.js";
import { type Publication, planPublication, publish } from "../author/publish.js";
import type { Site } from "../author/site.js";
import { lineShownSafely, type Terminal } from "./terminal.js";

/**
 * Shows the commands that publish new files, and runs them if the author agrees.
 *
 * @returns the exit code
 * @throws TwtxtError `not-published`
 */
export async function publishIfConfirmed(
  content: { files: readonly string[]; message: string },
  site: Site,
  terminal: Terminal,
): Promise<number> {
  const plan = await planPublication(content, site, terminal);
  for (const line of linesOf(plan)) terminal.say(line);
  const answer = await terminal.ask("Run these commands? [y/N] ");
  if (!/^\s*y(es)?\s*$/i.test(answer ?? "")) {
    terminal.say("Nothing was published. The note is saved.");
    return 1;
  }
  await publish(plan, {
    ...{ site, machine: terminal, signal: endingOf(terminal) },
    onCommand: ({ shown }) => terminal.say(`$ ${lineShownSafely(shown)}`),
    onOutput: (line) => terminal.say(lineShownSafely(line)),
  });
  terminal.say(`Published to ${plan.remote}.`);
  return 0;
}

function linesOf({ commands, earlier, remote }: Publication): string[] {
  const others = earlier.map((subject) => lineShownSafely(`  ${subject}`));
  return [
    "To publish:",
    ...commands.map(({ shown }) => lineShownSafely(`  ${shown}`)),
    ...(others.length > 0 ? [`The push also publishes earlier commits that ${remote} does not have:`, ...others] : []),
  ];
}
