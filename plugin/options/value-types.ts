// plugin/options/value-types.ts: types of option values. Each says in error messages what to write, with an example.
import * as v from "valibot";
import { isMentionUrl, isNick } from "../feed/mention.js";
import { canParseUrl, isFeedUrl } from "../url.js";

export const SITE_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

const SOURCES = 'a list of hosts, "host:port"s and feeds, such as ["spam.example", "https://bob.example/twtxt.txt"]';
const LAYOUT = 'the name of a layout, such as "base.njk"';

/** Texts that replace those of a form, by their names. @param english - the form's own */
export function ownWords<Name extends string>(
  english: Record<Name, string>,
  example: string,
  word: v.GenericSchema<string> = v.string("a text"),
) {
  const entries = Object.keys(english).map((name) => [name, v.optional(word)]);
  const words: Record<Name, v.OptionalSchema<typeof word, undefined>> = Object.fromEntries(entries);
  return v.strictObject(words, `an object such as ${example}`);
}

/** The options of a capability that is on by default; `false` turns it off. */
export function offOr<const Options extends v.GenericSchema>(options: Options) {
  return v.lazy((input) => (input === false ? v.literal(false) : options));
}

/** The options of a capability that is off by default; `true` turns it on with all defaults. */
export function onOr<Input, Output>(options: v.GenericSchema<Input, Output>) {
  const toOptions = v.transform((isOn: boolean): false | Output => isOn && v.parse(options, {}));
  return v.lazy((input): v.GenericSchema<boolean | Input, false | Output> => {
    return (typeof input === "boolean" ? v.pipe(v.boolean(), toOptions) : options) as never;
  });
}

/** A whole number in an interval. */
export function amount(least: number, most: number, standard: number) {
  const expected = `a whole number from ${least} to ${most}, such as ${standard}`;
  const value = v.pipe(
    v.number(expected),
    v.safeInteger(expected),
    v.minValue(least, expected),
    v.maxValue(most, expected),
  );
  return v.optional(value, standard);
}

export function text(isValid: (value: string) => boolean, expected: string) {
  return v.pipe(v.string(expected), v.check(isValid, expected));
}

/** The description of a nick for messages. */
export const NICK = 'a nick without spaces and without @ # ! : < > ( ) [ ] \' " `, such as "alice"';
export const nick = text(isNick, NICK);

export const yesNo = v.boolean("true or false");

export const layout = v.pipe(v.string(LAYOUT), v.nonEmpty(LAYOUT));

export const mentionUrl = text(
  (value) => isMentionUrl(value) && !value.includes("#"),
  'an absolute URL without ) > # ` and spaces, such as "https://bob.example/twtxt.txt"',
);

export const sources = v.array(text(isSource, 'a host, a "host:port" or a feed, such as "spam.example"'), SOURCES);

/** A path of the site, with or without a slash at its end. */
export function sitePath(example: string) {
  return text(
    (value) => SITE_PATH.test(value.replace(/\/$/, "")) && !/\/\.+(\/|$)/.test(value),
    `a path from the root of the site, such as "${example}"`,
  );
}

/** The path of a page that can be turned off. */
export function pagePath(example: string) {
  return v.union([v.literal(false), sitePath(example)], `false, or a path such as "${example}"`);
}

export function webUrl(example: string) {
  const isValid = (value: string) => isSafeUrl(value) && !/[\s#<>"`\x00-\x1f\x7f-\x9f]/.test(value);
  return text(isValid, `an absolute https URL without "#", such as "${example}"`);
}

export function isOrigin(value: string): boolean {
  if (!isSafeUrl(value) || /[?#@]/.test(value)) return false;
  const { pathname, host } = new URL(value);
  return pathname === "/" && /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d+)?$/.test(host);
}

/** A host, `host:port`, or the URL of a feed or page. A URL without a path would name the page `/`, not the host. */
function isSource(value: string): boolean {
  return isFeedUrl(value)
    ? isMentionUrl(value) && /^\w+:\/\/[^/?#]+\//.test(value)
    : /^(\[[0-9a-f:]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?$/.test(value);
}

/** https, or http on a loopback host for trials. */
function isSafeUrl(value: string): boolean {
  if (!/^https?:\/\/[^/\\]/.test(value) || !canParseUrl(value) || !value.isWellFormed()) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname));
}
