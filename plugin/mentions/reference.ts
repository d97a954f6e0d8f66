// plugin/mentions/reference.ts: references to a twt, `<feed url>#:~:text=<timestamp>`.
import { TwtxtError, type TwtxtErrorCode } from "../errors.js";
import { toInstant } from "../feed/timestamp.js";
import { decodePercent, isFeedUrl, parseUrl, withoutLastDots } from "../url.js";

const MAX_URL_LENGTH = 2048;
const MARK = ":~:text=";
const SHAPE_OF_A_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d/i;

/**
 * Writes a reference to a twt.
 *
 * @param feedUrl - the first `url` of the feed, without fragment
 * @param timestamp - exactly as written in the file
 * @example formatReference("https://bob.example/twtxt.txt", "2026-01-02T03:04:05Z") // "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"
 * @see PROTOCOL 2.1
 */
export function formatReference(feedUrl: string, timestamp: string): string {
  return `${feedUrl}#:~:text=${timestamp}`;
}

/** The source of a stored mention: a reference to a twt, or the URL of a page. */
export function toSource({ identity, timestamp }: { identity: string; timestamp: string | null }): string {
  return timestamp === null ? identity : formatReference(identity, timestamp);
}

/** A parsed reference: a URL without fragment, and the possible readings of the fragment's timestamp. */
export interface Reference {
  url: string;
  /** Empty for a whole feed or page. */
  timestamps: string[];
}

/**
 * Parses a reference or the URL of a page.
 *
 * @throws TwtxtError with this code for anything but the URL of a page or feed, for credentials, control characters and
 *   invalid dates
 * @see PROTOCOL 2.4, "The request"
 */
export function parseReference(value: string, code: TwtxtErrorCode): Reference {
  if (/[\x00-\x1f\x7f-\x9f]/.test(value)) throw new TwtxtError(code, "The URL must not contain control characters.");
  // Some clients encode the values and then the form, so a value may have to be decoded once more.
  const text = /^(?:https?|gemini|gopher)%3A/i.test(value) ? (decodePercent(value) ?? value) : value;
  if (!isFeedUrl(text)) {
    throw new TwtxtError(
      code,
      `Expected an absolute URL of http, https, gemini or gopher, got ${JSON.stringify(value.slice(0, 200))}.`,
    );
  }
  const url = parseUrl(text);
  if (url.username !== "" || url.password !== "")
    throw new TwtxtError(code, "The URL must not contain a user name or password.");
  url.hash = "";
  url.hostname = withoutLastDots(url.hostname);
  if (url.href.length > MAX_URL_LENGTH)
    throw new TwtxtError(code, `The URL must have at most ${MAX_URL_LENGTH} characters.`);
  const [, ...fragment] = text.split("#");
  return { url: url.href, timestamps: parseTimestamps(fragment.join("#"), code) };
}

/**
 * The possible timestamps of a fragment. Peers send it raw or percent-encoded once or twice, with a space for the `+` of
 * an offset (timeline does not encode), an element's id before it, or an end parameter after it.
 */
function parseTimestamps(fragment: string, code: TwtxtErrorCode): string[] {
  const once = decodePercent(fragment) ?? fragment;
  const forms = [fragment, once, decodePercent(once) ?? once];
  const texts = forms.filter((form) => form.includes(MARK)).map(startOfText);
  const readings = [...new Set(texts.flatMap((text) => [text, text.replace(/ (?=\d\d:?(\d\d)?$)/, "+")]))];
  const timestamps = readings.filter((text) => toInstant(text) !== null);
  if (timestamps.length === 0 && readings.some((text) => SHAPE_OF_A_TIMESTAMP.test(text))) {
    throw new TwtxtError(code, "The fragment has an invalid date.");
  }
  // Different readings must name the same moment, or the wrong twt could be found.
  if (new Set(timestamps.map(toInstant)).size > 1) {
    throw new TwtxtError(code, "The fragment is ambiguous: it can be read as different times.");
  }
  return timestamps;
}

function startOfText(fragment: string): string {
  const text = fragment.slice(fragment.indexOf(MARK) + MARK.length);
  return /^[^,&]*/.exec(text)?.[0].trim() ?? "";
}
