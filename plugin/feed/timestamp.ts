// plugin/feed/timestamp.ts: timestamps of a feed.
import { TwtxtError } from "../errors.js";

/** Accepted timestamps: date, time, optional seconds, optional fraction, optional zone. */
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)?$/;

/** `YYYY-MM-DDThh:mm:ssZ`, the only form that is written. */
const CANONICAL = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

const DAY_MS = 86_400_000;

/**
 * Converts a timestamp to UTC and whole seconds.
 *
 * @param timestamp - RFC 3339, or one of the shorter forms that feeds use
 * @returns `YYYY-MM-DDThh:mm:ssZ`; `null` for an invalid timestamp or date
 * @example toInstant("2024-01-02T03:04:05.123+01:00") // "2024-01-02T02:04:05Z"
 */
export function toInstant(timestamp: string): string | null {
  if (isCanonical(timestamp)) return timestamp;

  const match = TIMESTAMP.exec(timestamp);
  if (!match) return null;
  const [, date, hour, minute, second = "00", , sign, zoneHours = "00", zoneMinutes = "00"] = match;
  const local = `${date}T${hour}:${minute}:${second}Z`;
  if (!isCanonical(local) || zoneHours > "23" || zoneMinutes > "59") return null;
  if (sign === undefined) return local;

  const ahead = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  return secondsForm(Date.parse(local) - (sign === "+" ? ahead : -ahead));
}

/** As {@link toInstant}. @throws TwtxtError `bad-timestamp` */
export function requireInstant(timestamp: string): string {
  const instant = toInstant(timestamp);
  if (instant !== null) return instant;
  throw new TwtxtError("bad-timestamp", `expected a timestamp such as "2026-01-02T03:04:05Z", got "${timestamp}".`);
}

/** Whether a time is midnight in UTC, which means a date without a time. PROTOCOL 1.2 */
export function isDateOnly(time: number): boolean {
  return time % DAY_MS === 0;
}

/** Unlike the timestamps of feeds, RFC 3339 requires seconds and zone. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Whether a text is a timestamp of RFC 3339, with any offset and any number of decimals. */
export function isRfc3339(text: string): boolean {
  return RFC_3339.test(text) && toInstant(text) !== null;
}

/**
 * Writes a time as `YYYY-MM-DDThh:mm:ssZ`.
 *
 * @param time - milliseconds since 1970, or a Date; fractions of a second are dropped
 * @throws TwtxtError `bad-timestamp` for an invalid date, or one outside the years 0000 to 9999
 */
export function formatTimestamp(time: number | Date): string {
  const text = secondsForm(Number(time));
  if (text === null) throw new TwtxtError("bad-timestamp", `expected a date of the years 0000 to 9999, got ${time}.`);
  return text;
}

/**
 * The form of a timestamp that is hashed: with seconds, without fraction, UTC as `Z`, other offsets as `±hh:mm`, which is
 * how timeline and lextwt write `+0100` and `+01`.
 *
 * @see PROTOCOL 1.2, twtxt.dev/exts/twt-hash-v2
 * @throws TwtxtError `bad-timestamp`
 */
export function hashedForm(timestamp: string): string {
  if (isCanonical(timestamp)) return timestamp;

  requireInstant(timestamp);
  const [, date, hour, minute, second = "00", , sign, zoneHours, zoneMinutes = "00"] = TIMESTAMP.exec(timestamp) ?? [];
  const isUtc = sign === undefined || (zoneHours === "00" && zoneMinutes === "00");
  return `${date}T${hour}:${minute}:${second}${isUtc ? "Z" : `${sign}${zoneHours}:${zoneMinutes}`}`;
}

function secondsForm(milliseconds: number): string | null {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return null;
  const text = date.toISOString();
  return text.length === 24 ? `${text.slice(0, 19)}Z` : null;
}

function isCanonical(text: string): boolean {
  // Each month has 28 days.
  return CANONICAL.test(text) && (text.slice(8, 10) <= "28" || secondsForm(Date.parse(text)) === text);
}
