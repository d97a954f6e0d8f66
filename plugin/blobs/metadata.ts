// plugin/blobs/metadata.ts: the metadata of a blob: its rules, and how requests carry it, in headers or JSON. PROTOCOL 4
import { parse } from "content-disposition";
import { parseItem, serializeItem } from "structured-headers";
import { TwtxtError } from "../errors.js";
import type { RequestHeaders } from "../http/respond.js";
import type { Metadata } from "./blob.js";
import { PROOF_PROPERTIES } from "./proof.js";

/** The metadata in a request. Omitted fields stay as they are. */
type Change = Partial<Metadata>;

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
const ALL_NOT_IN_FILENAME = new RegExp(NOT_IN_FILENAME, "g");
const PROPERTY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Applies a change. The owner's proof is removed, since it does not cover the change.
 *
 * @param before - `null` for a new blob
 */
export function changed(before: Metadata | null, change: Change): Metadata {
  const { type, filename, isPublic, properties } = before ?? NEW;
  return { type, filename, isPublic, properties: withoutProof(properties), ...change };
}

export function withoutProof(properties: Metadata["properties"]): Record<string, string> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !PROOF_PROPERTIES.includes(name)));
}

/** @throws TwtxtError `bad-metadata` */
export function checkType(type: string): string {
  if (type.length <= MAX_TEXT && MEDIA_TYPE.test(type)) return type;
  throw badMetadata(`"Type" must be a media type such as "image/jpeg", of at most ${MAX_TEXT} characters`);
}

/** @throws TwtxtError `bad-metadata` */
export function checkFilename(filename: string): string {
  const isName = filename.isWellFormed() && !NOT_IN_FILENAME.test(filename) && filename !== "." && filename !== "..";
  if (filename.length <= MAX_TEXT && isName) return filename;
  throw badMetadata(
    `"Filename" must be a name of at most ${MAX_TEXT} characters, without a path and without control characters`,
  );
}

/**
 * Turns any text into a name that {@link checkFilename} accepts, empty for a text that is only a path. A long name keeps its
 * end, such as ".jpeg".
 *
 * @example filenameFrom("C:\\pictures\\a\u202eb.png") // "a_b.png"
 */
export function filenameFrom(text: string): string {
  const name = text
    .toWellFormed()
    .replace(/^.*[/\\]/s, "")
    .replace(ALL_NOT_IN_FILENAME, "_");
  if (/^\.*$/.test(name)) return "";
  const end = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? "";
  return name.length > MAX_TEXT ? name.slice(0, MAX_TEXT - end.length).toWellFormed() + end : name;
}

/**
 * @param value - parsed JSON
 * @throws TwtxtError `bad-metadata`
 */
export function checkProperties(value: unknown): Record<string, string> {
  if (!isObject(value)) throw badMetadata('"Properties" must be a JSON object whose values are strings');
  const entries = Object.entries(value);
  if (entries.length > MAX_PROPERTIES) throw badMetadata(`there are more than ${MAX_PROPERTIES} properties`);
  if (!entries.every(([name]) => PROPERTY_NAME.test(name))) {
    throw badMetadata(
      "the name of a property must be 1 to 64 characters of A-Z a-z 0-9 . _ -, and start with a letter or digit",
    );
  }
  const isText = (value: unknown) => typeof value === "string" && value.isWellFormed();
  if (!entries.every(([, text]) => isText(text))) throw badMetadata("the value of a property must be a string");
  const properties = Object.fromEntries(entries);
  if (Buffer.byteLength(JSON.stringify(properties)) <= MAX_PROPERTIES_BYTES) return properties;
  throw badMetadata(`the properties are larger than ${MAX_PROPERTIES_BYTES} bytes of JSON`);
}

const VISIBILITY = new Map([
  ["?1", true],
  ["?0", false],
]);

/** Reads the metadata in a request's headers. @throws TwtxtError `bad-metadata` */
export function readChange(headers: RequestHeaders): Change {
  const type = headers.get("content-type");
  const disposition = headers.get("content-disposition");
  const visibility = headers.get("blob-public");
  const isPublic = VISIBILITY.get(visibility ?? "");
  if (visibility !== null && isPublic === undefined) throw badMetadata(`"Blob-Public" must be ?1 or ?0`);
  const properties = headers.get("blob-properties");
  return {
    ...(type !== null && { type: checkType(type) }),
    ...(disposition !== null && { filename: readFilename(disposition) }),
    ...(isPublic !== undefined && { isPublic }),
    ...(properties !== null && { properties: checkProperties(readProperties(properties)) }),
  };
}

export function toHeaders({ type, filename, isPublic, properties }: Metadata): Record<string, string> {
  return {
    "content-type": type,
    "content-disposition": formatDisposition("attachment", filename),
    "blob-public": isPublic ? "?1" : "?0",
    "blob-properties": serializeItem(Uint8Array.from(Buffer.from(JSON.stringify(properties))).buffer),
  };
}

export function formatDisposition(kind: "inline" | "attachment", filename: string): string {
  // RFC 8187 does not allow some characters that `encodeURIComponent` keeps.
  const toCode = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return filename === ""
    ? kind
    : `${kind}; filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, toCode)}`;
}

function readFilename(header: string): string {
  const { filename, "filename*": extended } = parse(header).parameters;
  if (filename === undefined && extended !== undefined) {
    throw badMetadata(`"Content-Disposition" must be such as attachment; filename*=UTF-8''photo.jpg`);
  }
  return checkFilename(filename ?? "");
}

function readProperties(header: string): unknown {
  try {
    const [bytes, parameters] = parseItem(header);
    if (!(bytes instanceof ArrayBuffer) || parameters.size > 0) throw new Error("not a byte sequence");
    return parseUtf8Json(bytes);
  } catch {
    throw badMetadata('"Blob-Properties" must be JSON as a byte sequence of RFC 8941, such as :e30=:');
  }
}

/** Readers of the JSON fields. */
const FIELDS: Record<string, (value: unknown) => Change> = {
  type: (value) => ({ type: checkType(requireString("Type", value)) }),
  filename: (value) => ({ filename: checkFilename(requireString("Filename", value)) }),
  public: (value) => {
    if (typeof value !== "boolean") throw badMetadata('"Public" must be true or false');
    return { isPublic: value };
  },
  properties: (value) => ({ properties: checkProperties(value) }),
};

/**
 * Reads the JSON fields `Type`, `Public`, `Filename` and `Properties`, in upper or lower case but not both. Of identical
 * names the last one counts, as usual in JSON.
 *
 * @throws TwtxtError `bad-request` for anything but a JSON object; `bad-metadata`
 */
export function changeInJson(bytes: Uint8Array): Change {
  const change: Change = {};
  const seen = new Set<string>();
  for (const [name, value] of readEntries(bytes)) {
    const field = name.toLowerCase();
    const read = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (!read) throw badMetadata("the only fields are Type, Public, Filename and Properties");
    if (seen.has(field)) throw badMetadata(`"${name}" occurs twice`);
    seen.add(field);
    Object.assign(change, read(value));
  }
  return change;
}

/** Writes metadata as the fields that {@link changeInJson} reads. */
export function encodeMetadata({ type, filename, isPublic, properties }: Metadata): Uint8Array {
  return Buffer.from(JSON.stringify({ Type: type, Filename: filename, Public: isPublic, Properties: properties }));
}

function readEntries(bytes: Uint8Array): [string, unknown][] {
  let value: unknown;
  try {
    value = parseUtf8Json(bytes);
  } catch {
    throw new TwtxtError("bad-request", "The body is not JSON.");
  }
  if (isObject(value)) return Object.entries(value);
  throw new TwtxtError("bad-request", "The body is not a JSON object.");
}

function requireString(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw badMetadata(`"${name}" must be a string`);
}

function parseUtf8Json(bytes: Uint8Array | ArrayBuffer): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function badMetadata(why: string): TwtxtError {
  return new TwtxtError("bad-metadata", `The metadata is invalid: ${why}.`);
}
