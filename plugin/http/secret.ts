// plugin/http/secret.ts: secrets in the environment that open parts of the site.
import { createHash, timingSafeEqual } from "node:crypto";
import type { Log } from "./respond.js";

/**
 * Whether a secret has 128 bits and needs no encoding in a URL. A weak one is logged with what to do.
 *
 * @param off - what is off until then, such as `mentions.txt is`
 */
export function checkSecret(variable: string, secret: string, off: string, log: Log): boolean {
  const isStrong = /^[A-Za-z0-9_-]{22,}$/.test(secret) && (secret.length >= 32 || !/^[0-9a-f]+$/i.test(secret));
  if (isStrong) return true;
  log(
    `${variable}: expected at least 22 letters, digits, "-" and "_", or 32 hex digits, such as from \`openssl rand -hex 16\`. ${off} off until then.`,
  );
  return false;
}

/** Compares digests in constant time, so that the time reveals nothing about the secret. */
export function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
