// plugin/client/sentence.tsx: sentences of this program in a page, such as why something failed.
import type { FC } from "hono/jsx";
import { typedHints } from "../author/invocation.js";
import type { Machine } from "../author/machine.js";
import { TwtxtError } from "../errors.js";

const CODE = /`([^`\n]+)`/;

/** Shows what stands in backticks as code, such as a command to type. */
export const Sentence: FC<{ text: string }> = ({ text }) => (
  <>
    {typedHints(text)
      .split(CODE)
      .map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}
  </>
);

/** Why something failed, in sentences. Errors of another kind are bugs: they are logged and masked. */
export function faultText(error: unknown, { say }: Pick<Machine, "say">): string {
  if (error instanceof TwtxtError) return error.message;
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return "This is a bug. The terminal where the client runs shows what happened: please report it to eleventy-plugin-twtxt with these lines.";
}

/** @param text - sentences; `null` for no fault */
export const Fault: FC<{ text: string | null; id?: string }> = ({ text, id }) =>
  text !== null && (
    <p id={id} class="notice failure">
      <Sentence text={text} />
    </p>
  );
