// plugin/errors.ts: everything that this package throws.

/** What went wrong, for programs. Codes are stable; a new one is an addition, not a change. */
export type TwtxtErrorCode =
  | "bad-option"
  | "bad-front-matter"
  | "bad-field"
  | "bad-timestamp"
  | "bad-key"
  | "output-conflict"
  | "twt-too-early"
  | "bad-usage"
  | "no-settings"
  | "bad-file";

/** Everything that this package throws. `code` is stable; the text is for people. */
export class TwtxtError extends Error {
  override readonly name = "TwtxtError";

  constructor(
    readonly code: TwtxtErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
