// plugin/mentions/inform/decode-credential.ts: user names and passwords in the URLs of notification channels.

/**
 * Decodes a percent-encoded user name or password.
 *
 * @param badUrl - makes the error to throw if it is not well-formed
 */
export function decodeCredential(text: string, badUrl: () => Error): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl();
  }
}
