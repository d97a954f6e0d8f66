// plugin/mentions/reference.ts: `<feed url>#:~:text=<timestamp>`, by which one twt of a feed is named.
import { TwtxtError, type TwtxtErrorCode } from "../errors.js";
import { toInstant } from "../feed/timestamp.js";

const MAX_URL_LENGTH = 2048;
const MARK = ":~:text=";
const SHAPE_OF_A_TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d/i;

/**
 * Writes a reference to a twt.
 *
 * @param feedUrl - the first `url` of the feed, without fragment
 * @param timestamp - exactly as it stands in the file
 * @example formatReference("https://bob.example/twtxt.txt", "2026-01-02T03:04:05Z") // "https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"
 * @see PROTOCOL 2.1
 */
export function formatReference(feedUrl: string, timestamp: string): string {
  return `${feedUrl}#:~:text=${timestamp}`;
}

/** Where a stored mention stands: a reference to a twt, or a page. */
export function sourceOf({ identity, timestamp }: { identity: string; timestamp: string | null }): string {
  return timestamp === null ? identity : formatReference(identity, timestamp);
}

/** What a reference names: a feed or page without fragment, and the timestamps that the fragment may mean. */
export interface Reference {
  url: string;
  /** None where it names a whole feed or page. */
  timestamps: string[];
}

/**
 * Reads a reference, or the URL of a page.
 *
 * @throws TwtxtError with this code for what is no http or https URL, holds credentials or controls, or a date that
 *   there is not
 * @see PROTOCOL 2.4, "The request"
 */
export function parseReference(value: string, code: TwtxtErrorCode): Reference {
  if (/[\x00-\x1f\x7f-\x9f]/.test(value)) throw new TwtxtError(code, "A URL holds no control characters.");
  const text = readable(value);
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new TwtxtError(code, `Expected an absolute http or https URL, got ${JSON.stringify(value.slice(0, 200))}.`);
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw new TwtxtError(code, "A URL holds no credentials here.");
  url.hash = "";
  url.hostname = url.hostname.replace(/\.+$/, "");
  if (url.href.length > MAX_URL_LENGTH)
    throw new TwtxtError(code, `A URL has at most ${MAX_URL_LENGTH} characters here.`);
  const [, ...fragment] = text.split("#");
  return { url: url.href, timestamps: timestampsOf(fragment.join("#"), code) };
}

/** Some encode the form's values and then the form: what is no URL at all may be one once more decoded. */
function readable(value: string): string {
  return /^https?%3A/i.test(value) ? decoded(value) : value;
}

/**
 * The timestamps that a fragment may mean. It comes raw or percent-encoded, once or twice, with a space where the `+`
 * of an offset was lost (timeline does not encode at all), an element's id before it, and an end parameter behind it.
 */
function timestampsOf(fragment: string, code: TwtxtErrorCode): string[] {
  const forms = [fragment, decoded(fragment), decoded(decoded(fragment))];
  const texts = forms.filter((form) => form.includes(MARK)).map(startOfText);
  const readings = [...new Set(texts.flatMap((text) => [text, text.replace(/ (?=\d\d:?(\d\d)?$)/, "+")]))];
  const timestamps = readings.filter((text) => toInstant(text) !== null);
  if (timestamps.length === 0 && readings.some((text) => SHAPE_OF_A_TIMESTAMP.test(text))) {
    throw new TwtxtError(code, "There is no such date.");
  }
  // What is found by one reading must not be taken for what another one names.
  if (new Set(timestamps.map(toInstant)).size > 1) {
    throw new TwtxtError(code, "The fragment names more than one moment.");
  }
  return timestamps;
}

function startOfText(fragment: string): string {
  const text = fragment.slice(fragment.indexOf(MARK) + MARK.length);
  return /^[^,&]*/.exec(text)?.[0].trim() ?? "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
