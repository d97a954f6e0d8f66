// plugin/client/page-texts.tsx: texts of this program in a page: sentences, times, and the output of programs.
import type { FC } from "hono/jsx";
import { DATES } from "../author/amounts.js";
import { typedHints } from "../author/invocation.js";
import type { Machine } from "../author/machine.js";
import { TwtxtError } from "../errors.js";

const CODE = /`([^`\n]+)`/;

/** Shows text in backticks as code, such as a command to type. */
export const Sentence: FC<{ text: string }> = ({ text }) => (
  <>
    {typedHints(text)
      .split(CODE)
      .map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}
  </>
);

/** The message of a `TwtxtError`. Other errors are bugs: they are logged and masked. */
export function faultText(error: unknown, { say }: Pick<Machine, "say">): string {
  if (error instanceof TwtxtError) return error.message;
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return "This is a bug. Please report it to eleventy-plugin-twtxt, with the lines that the client has printed on its terminal.";
}

/** @param text - sentences; `null` for no fault */
export const Fault: FC<{ text: string | null; id?: string }> = ({ text, id }) =>
  text !== null && (
    <p id={id} class="notice failure">
      <Sentence text={text} />
    </p>
  );

/** @param at - an ISO date */
export const Time: FC<{ at: string }> = ({ at }) => <time datetime={at}>{DATES.format(new Date(at))}</time>;

/** A text in a fixed font that scrolls, also with the keys. @param id - of a text that grows while the page is shown */
export const Output: FC<{ label: string; text: string; id?: string }> = ({ label, text, id }) => (
  <section class="output" aria-label={label} tabindex={0}>
    <pre id={id} data-live={id && ""}>
      {text}
    </pre>
  </section>
);
