// plugin/client/sentence.tsx: messages of this program in a page, such as the reason for a failure.
import type { FC } from "hono/jsx";
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
