// plugin/author/machine.ts: the author's machine, and what the author chooses when a command or the client starts.
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
export function endSignal(machine: Pick<Machine, "ended">): AbortSignal {
  const ending = new AbortController();
  void machine.ended().then(() => ending.abort(new TwtxtError("unreachable", "Interrupted.")));
  return ending.signal;
}

/** Ends with the reason of a signal once it is aborted. */
export async function* untilAborted(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}

export interface AuthorChoice {
  /** The address of one of several authors. */
  as: string | undefined;
  identity: string | undefined;
  settings: string | undefined;
}

/** The value of `--allow-private-host` that forgets the hosts of earlier commands. */
export const NO_HOSTS = "none";

/** Which servers in the author's own network may be contacted. */
export interface HostChoice {
  /** `host:port`s; on the command line also {@link NO_HOSTS} */
  "allow-private-host": readonly string[];
}

/** How the author's own site is reached. */
export interface OwnSiteChoice extends AuthorChoice, HostChoice {
  /** Another URL of the site, such as that of a local server. */
  url: string | undefined;
}
