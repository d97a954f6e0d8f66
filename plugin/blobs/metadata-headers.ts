// plugin/blobs/metadata-headers.ts: metadata in HTTP headers. PROTOCOL 4
import { parse } from "content-disposition";
import { parseItem, serializeItem } from "structured-headers";
import type { Metadata } from "./blob.js";
import { badMetadata, type Change, checkFilename, checkProperties, checkType } from "./metadata.js";

const PUBLIC = "?1";
const PRIVATE = "?0";

/**
 * Reads the metadata in a request's headers.
 *
 * @throws TwtxtError `bad-metadata`
 */
export function changeIn(headers: Headers): Change {
  const type = headers.get("content-type");
  const disposition = headers.get("content-disposition");
  const isPublic = headers.get("blob-public");
  const properties = headers.get("blob-properties");
  return {
    ...(type !== null && { type: checkType(type) }),
    ...(disposition !== null && { filename: filenameIn(disposition) }),
    ...(isPublic !== null && { isPublic: publicIn(isPublic) }),
    ...(properties !== null && { properties: propertiesIn(properties) }),
  };
}

/** Formats metadata as headers. */
export function headersOf({ type, filename, isPublic, properties }: Metadata): Record<string, string> {
  return {
    "content-type": type,
    "content-disposition": dispositionOf("attachment", filename),
    "blob-public": isPublic ? PUBLIC : PRIVATE,
    "blob-properties": serializeItem(Uint8Array.from(Buffer.from(JSON.stringify(properties))).buffer),
  };
}

/** The `Content-Disposition` header. */
export function dispositionOf(kind: "inline" | "attachment", filename: string): string {
  return filename === "" ? kind : `${kind}; filename*=UTF-8''${encoded(filename)}`;
}

/** Characters that `encodeURIComponent` keeps but RFC 8187 does not allow. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function filenameIn(header: string): string {
  const { filename, "filename*": extended } = parse(header).parameters;
  if (filename === undefined && extended !== undefined) {
    throw badMetadata(`"Content-Disposition" cannot be read; expected such as attachment; filename*=UTF-8''photo.jpg`);
  }
  return checkFilename(filename ?? "");
}

function publicIn(header: string): boolean {
  if (header === PUBLIC || header === PRIVATE) return header === PUBLIC;
  throw badMetadata(`"Blob-Public" is ${PUBLIC} or ${PRIVATE}`);
}

function propertiesIn(header: string): Record<string, string> {
  return checkProperties(jsonIn(header));
}

function jsonIn(header: string): unknown {
  try {
    const [bytes, parameters] = parseItem(header);
    if (!(bytes instanceof ArrayBuffer) || parameters.size > 0) throw new Error("it is no byte sequence");
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badMetadata('"Blob-Properties" is JSON as a byte sequence of RFC 8941, such as :e30=:');
  }
}
