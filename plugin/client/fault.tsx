// plugin/client/fault.tsx: why something failed.
import type { FC } from "hono/jsx";
import type { Machine } from "../author/machine.js";
import { TwtxtError } from "../errors.js";
import { Sentence } from "./sentence.js";

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
