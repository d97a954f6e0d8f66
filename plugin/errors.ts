// plugin/errors.ts: errors and their codes.

/**
 * Error codes with their HTTP status. Codes are stable; new ones may be added.
 */
const STATUS = {
  // Errors of builds and commands. No endpoint responds with them.
  "bad-option": 500,
  "bad-front-matter": 500,
  "bad-post": 500,
  "bad-field": 500,
  "bad-timestamp": 500,
  "bad-key": 500,
  "bad-identity": 500,
  "no-identity": 500,
  "no-collections": 500,
  "output-conflict": 500,
  "twt-too-early": 500,
  "bad-usage": 500,
  "no-settings": 500,
  "bad-file": 500,
  "feed-not-live": 500,
  "already-sending": 500,
  "bad-address": 500,
  "key-changed": 500,
  "blob-tampered": 500,
  "not-published": 500,
  // Invalid requests.
  "bad-request": 400,
  "bad-source": 400,
  "bad-target": 400,
  "not-our-target": 400,
  blocked: 400,
  "not-signed": 401,
  "wrong-clock": 401,
  "bad-token": 401,
  "not-allowed": 403,
  "comments-closed": 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "not-acceptable": 406,
  "too-slow": 408,
  "length-required": 411,
  "same-comment": 409,
  "precondition-failed": 412,
  "body-too-large": 413,
  "bad-content-type": 415,
  "range-not-satisfiable": 416,
  "too-many-requests": 429,
  "too-many-pending": 429,
  "too-many-comments": 429,
  "precondition-required": 428,
  "headers-too-large": 431,
  // Failed verification.
  "source-refused": 400,
  "no-such-twt": 400,
  "no-such-mention": 400,
  "say-which-twt": 400,
  "address-refused": 400,
  unreachable: 400,
  "too-many-redirects": 400,
  "too-large": 400,
  "bad-compression": 400,
  // Failed lookup of an address.
  "no-such-address": 400,
  "not-looked-up": 400,
  // Invalid messages.
  "bad-armor": 400,
  "bad-message": 400,
  "not-a-recipient": 400,
  "not-authentic": 400,
  // Invalid blobs.
  "bad-blob-key": 400,
  "bad-metadata": 400,
  "wrong-content-address": 400,
  "quota-exceeded": 507,
  // Internal errors.
  "store-failed": 503,
  "blob-damaged": 500,
  "inbox-full": 503,
  "bad-store-key": 500,
  "mail-failed": 503,
  "hook-failed": 503,
} as const satisfies Record<string, number>;

export type TwtxtErrorCode = keyof typeof STATUS;

/** The HTTP status of an error. See PROTOCOL 2.4 and 6. */
export function toStatus(code: TwtxtErrorCode): number {
  return STATUS[code];
}

/** An error of a build, which names the plugin. */
export function authorError(code: TwtxtErrorCode, message: string, options?: ErrorOptions): TwtxtError {
  return new TwtxtError(code, `[eleventy-plugin-twtxt] ${message}`, options);
}

/** An error about the front matter of a post. */
export function badFrontMatter({ inputPath }: { inputPath: string }, expected: string, got: unknown): TwtxtError {
  return authorError("bad-front-matter", `${inputPath}: expected ${expected}, got ${JSON.stringify(got)}.`);
}

/** An error of this package. `code` is stable, `message` may change. */
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

/** For `catch`: handles an error of this package, or of these codes alone. Other errors are thrown again. */
export function ifTwtxtError<T>(handle: (error: TwtxtError) => T, ...codes: TwtxtErrorCode[]): (error: unknown) => T {
  return (error) => {
    if (!(error instanceof TwtxtError) || (codes.length > 0 && !codes.includes(error.code))) throw error;
    return handle(error);
  };
}

/** @returns `null` if the work throws an error of this package */
export function valueOrNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    return ifTwtxtError(() => null)(error);
  }
}

/** For `catch`: as {@link ifTwtxtError}, throws the error with another message. */
export function reworded(
  toMessage: (error: TwtxtError) => string,
  ...codes: TwtxtErrorCode[]
): (error: unknown) => never {
  const reword = (error: TwtxtError) => {
    throw new TwtxtError(error.code, toMessage(error), { cause: error });
  };
  return ifTwtxtError(reword, ...codes);
}

/** Whether an error of the file system says that a file or its folder does not exist. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(Object(error).code);
}

/** Converts an error of the file system to `bad-file`, with its message. Other errors are bugs and stay unchanged. */
export function badFile(error: unknown): unknown {
  return error instanceof Error && "syscall" in error
    ? new TwtxtError("bad-file", `${error.message}.`, { cause: error })
    : error;
}

/** @throws TwtxtError `bad-file` for an error of the file system */
export async function orBadFile<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw badFile(error);
  });
}
