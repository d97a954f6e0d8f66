// plugin/blobs/metadata.ts: checks and changes of metadata.
import { TwtxtError } from "../errors.js";
import type { Metadata } from "./blob.js";
import { PROOF_PROPERTIES } from "./proof.js";

/** The metadata in a request. Omitted fields stay as they are. */
export type Change = Partial<Metadata>;

/** The default type. */
export const ANY_TYPE = "application/octet-stream";

/** The metadata of a new blob. */
export const NEW: Metadata = { type: ANY_TYPE, filename: "", isPublic: false, properties: {} };

const MAX_TEXT = 255;
const MAX_PROPERTIES = 64;
const MAX_PROPERTIES_BYTES = 8 * 1024;

const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);
/** Path separators, control characters and direction overrides. */
const NOT_IN_FILENAME = /[/\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const PROPERTY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Applies a change. The owner's proof is removed, since it does not cover the change.
 *
 * @param before - `null` for a new blob
 */
export function changed(before: Metadata | null, change: Change): Metadata {
  const { properties, ...others } = before ?? NEW;
  return { ...others, properties: withoutProof(properties), ...change };
}

/** The custom properties without the proof. */
export function withoutProof(properties: Metadata["properties"]): Record<string, string> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !PROOF_PROPERTIES.includes(name)));
}

/** @throws TwtxtError `bad-metadata` */
export function checkType(type: string): string {
  if (type.length <= MAX_TEXT && MEDIA_TYPE.test(type)) return type;
  throw badMetadata(`"Type" is a media type such as "image/jpeg", in at most ${MAX_TEXT} characters`);
}

/** @throws TwtxtError `bad-metadata` */
export function checkFilename(filename: string): string {
  const isName = filename.isWellFormed() && !NOT_IN_FILENAME.test(filename) && filename !== "." && filename !== "..";
  if (filename.length <= MAX_TEXT && isName) return filename;
  throw badMetadata(
    `"Filename" is a name without a path and without control characters, of at most ${MAX_TEXT} characters`,
  );
}

/**
 * @param value - of JSON
 * @throws TwtxtError `bad-metadata`
 */
export function checkProperties(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badMetadata('"Properties" is an object of JSON whose values are texts');
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_PROPERTIES) throw badMetadata(`there are more than ${MAX_PROPERTIES} properties`);
  for (const [name, text] of entries) {
    if (!PROPERTY_NAME.test(name)) {
      throw badMetadata("a property's name is 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit");
    }
    if (typeof text !== "string" || !text.isWellFormed()) throw badMetadata("the value of a property is a text");
  }
  const properties = Object.fromEntries(entries);
  if (Buffer.byteLength(JSON.stringify(properties)) <= MAX_PROPERTIES_BYTES) return properties;
  throw badMetadata(`the properties are larger than ${MAX_PROPERTIES_BYTES} bytes of JSON`);
}

export function badMetadata(why: string): TwtxtError {
  return new TwtxtError("bad-metadata", `The metadata cannot be: ${why}.`);
}
