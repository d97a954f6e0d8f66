// plugin/options/value-types.ts: types of option values. Each says in error messages what to write, with an example.
import * as v from "valibot";
import { isMentionUrl, isNick } from "../feed/mention.js";
import { canParseUrl, isFeedUrl } from "../url.js";

export const SITE_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

const SOURCES = 'a list of hosts, "host:port"s and feeds, such as ["spam.example", "https://bob.example/twtxt.txt"]';
const LAYOUT = 'the name of a layout, such as "base.njk"';

type Described<Schema extends v.GenericSchema> = v.SchemaWithPipe<
  readonly [Schema, v.DescriptionAction<v.InferOutput<Schema>, string>]
>;

export function about<const Schema extends v.GenericSchema>(description: string, schema: Schema): Described<Schema> {
  return v.pipe(schema, v.description(description));
}

export function optional<const Schema extends v.GenericSchema>(description: string, schema: Schema) {
  return v.optional(about(description, schema));
}

export function optionalOr<
  const Schema extends v.GenericSchema,
  const Standard extends v.Default<Described<Schema>, undefined>,
>(description: string, schema: Schema, standard: Standard) {
  return v.optional(about(description, schema), standard);
}

/** The options of a form's words, each with its English text. */
export function wordOptions<Name extends string>(english: Record<Name, string>) {
  const options = Object.entries<string>(english).map(([name, text]) => [
    name,
    optional(`In English: "${text}"`, v.string("a text")),
  ]);
  return Object.fromEntries(options) as Record<Name, ReturnType<typeof optional<v.StringSchema<string>>>>;
}

export function amount(description: string, least: number, most: number, standard: number) {
  const expected = `a whole number from ${least} to ${most}, such as ${standard}`;
  const value = v.pipe(
    v.number(expected),
    v.safeInteger(expected),
    v.minValue(least, expected),
    v.maxValue(most, expected),
  );
  return optionalOr(description, value, standard);
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
