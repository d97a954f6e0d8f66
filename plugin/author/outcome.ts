// plugin/author/outcome.ts: the result of an action of the author. Commands print it, the web client shows it as a notice.

/** What an action did. An action that cannot be done throws a `TwtxtError` instead. */
export interface Outcome {
  /** Sentences. */
  text: string;
  /** Whether there was nothing to do, or a part has failed. A command then exits with 1. */
  isFailure?: boolean;
  undo?: () => Promise<Outcome>;
}
