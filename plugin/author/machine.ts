// plugin/author/machine.ts: the author's machine, as commands and the web client see it.
import { TwtxtError } from "../errors.js";

/** The machine of the author; tests have another one. */
export interface Machine {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The working directory, absolute. */
  readonly folder: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Tells the author something, in a sentence. */
  say(line: string): void;
  /** Resolves at SIGTERM or Ctrl-C. A second one ends the process at once. */
  ended(): Promise<void>;
}

/** Is aborted at SIGTERM or Ctrl-C, so that work can clean up. */
export function endingOf(machine: Pick<Machine, "ended">): AbortSignal {
  const ending = new AbortController();
  void machine.ended().then(() => ending.abort(new TwtxtError("unreachable", "Interrupted.")));
  return ending.signal;
}
