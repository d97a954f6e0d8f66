// plugin/errors.ts: everything that this package throws.

/** What went wrong, for programs. Codes are stable; a new one is an addition, not a change. */
export type TwtxtErrorCode =
  | "bad-option"
  | "bad-front-matter"
  | "bad-post"
  | "bad-field"
  | "bad-timestamp"
  | "bad-key"
  | "no-collections"
  | "output-conflict"
  | "twt-too-early"
  | "bad-usage"
  | "no-settings"
  | "bad-file"
  | "address-refused"
  | "unreachable"
  | "too-many-redirects"
  | "too-large"
  | "bad-compression";

/** A mistake of the author's own, told while the site is built: it says who speaks. */
export function authorError(code: TwtxtErrorCode, message: string, options?: ErrorOptions): TwtxtError {
  return new TwtxtError(code, `[eleventy-plugin-twtxt] ${message}`, options);
}

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
