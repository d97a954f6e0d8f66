// plugin/options/forms.ts: value types of options, each with the words for error messages.
import * as v from "valibot";
import { isMentionUrl } from "../feed/mention.js";
import { canParseUrl } from "../url.js";

/** A path from the root of the site. */
export const SITE_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

const SOURCES = 'a list of hosts, "host:port"s and feeds, such as ["spam.example", "https://bob.example/twtxt.txt"]';
const LAYOUT = 'the name of a layout, such as "base.njk"';

/** A text that is right, with what is expected, an example included. */
export function text(isRight: (value: string) => boolean, expected: string) {
  return v.pipe(v.string(expected), v.check(isRight, expected));
}

/** An option with its sentence in the documents. */
export function about<const S extends v.GenericSchema>(description: string, schema: S) {
  return v.pipe(schema, v.description(description));
}

/** A whole number with its default. */
export function amount(least: number, most: number, standard: number) {
  const expected = `a whole number from ${least} to ${most}, such as ${standard}`;
  return v.optional(
    v.pipe(v.number(expected), v.safeInteger(expected), v.minValue(least, expected), v.maxValue(most, expected)),
    standard,
  );
}

export function yesNo() {
  return v.boolean("true or false");
}

/** A path of the site, with or without a slash at its end. */
export function sitePath(example: string) {
  return text(
    (value) => SITE_PATH.test(value.replace(/\/$/, "")) && !/\/\.+(\/|$)/.test(value),
    `a path from the root of the site, such as "${example}"`,
  );
}

/** A layout of the site. */
export function layout() {
  return v.pipe(v.string(LAYOUT), v.nonEmpty(LAYOUT));
}

export const mentionUrl = text(
  (value) => isMentionUrl(value) && !value.includes("#"),
  'an absolute URL without ) > # ` and spaces, such as "https://bob.example/twtxt.txt"',
);

/** An absolute https URL; http on a loopback host for trying out. */
export function webUrl(example: string) {
  return text(isWebUrl, `an absolute https URL without "#", such as "${example}"`);
}

/** A list of sources of mentions. */
export const sources = v.optional(
  v.array(text(isSource, 'a host, a "host:port" or a feed, such as "spam.example"'), SOURCES),
  [],
);

/** Whether this is the origin of a site, without a path. */
export function isOrigin(value: string): boolean {
  if (!isSafeUrl(value) || /[?#@]/.test(value)) return false;
  const { pathname, host } = new URL(value);
  return pathname === "/" && /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d+)?$/.test(host);
}

/** A host, `host:port`, or the URL of a feed or page. A URL without a path would stand for the page `/`, not for the host. */
function isSource(value: string): boolean {
  return /^https?:\/\//.test(value)
    ? isMentionUrl(value) && /^https?:\/\/[^/?#]+\//.test(value)
    : /^(\[[0-9a-f:]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?$/.test(value);
}

function isWebUrl(value: string): boolean {
  return isSafeUrl(value) && !/[\s#<>"`\x00-\x1f\x7f-\x9f]/.test(value);
}

/** https, or http on a loopback host for trying out. */
function isSafeUrl(value: string): boolean {
  if (!/^https?:\/\/[^/\\]/.test(value) || !canParseUrl(value) || !value.isWellFormed()) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname));
}
