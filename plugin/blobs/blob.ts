// plugin/blobs/blob.ts: a blob: an owner's bytes under a key, with metadata.
import { hash } from "node:crypto";
import * as v from "valibot";
import type { Version } from "../http/conditions.js";
import { formatSharedUrl, isBlobKey } from "../site/routes.js";

export interface Metadata {
  /** A media type, such as `image/jpeg`. */
  type: string;
  /** Name for downloads; empty for none. */
  filename: string;
  /** Whether its shared URL is public. */
  isPublic: boolean;
  /** Custom properties, including the owner's proof: see proof.ts. */
  properties: Readonly<Record<string, string>>;
}

/** A blob without its contents, as its owner describes it. */
export interface BlobFields extends Metadata {
  /** The owner's key, `kex1...`. */
  owner: string;
  key: string;
  /** Size of the contents in bytes. */
  size: number;
  /** SHA-256 of the contents in lowercase hex. */
  sha256: string;
}

/** The same, with the times that the site adds. */
export interface BlobInfo extends BlobFields {
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  created: string;
  /** When contents or metadata last changed, in the same format. */
  modified: string;
}

const CONTENT_ADDRESS = /^[0-9a-f]{64}$/;

/** Whether a key is the SHA-256 of its contents. PROTOCOL 4 */
export function isContentAddress(key: string): boolean {
  return CONTENT_ADDRESS.test(key);
}

export const SHORT_KEY_LENGTH = 12;
/** How many characters of a content address identify a blob in a command. */
export const MIN_KEY_PREFIX = 6;

/** A key as commands show it: the start of a content address, or the whole of another key. */
export function shortKey(key: string): string {
  return isContentAddress(key) ? key.slice(0, SHORT_KEY_LENGTH) : key;
}

/** The strong `ETag` of a blob, with quotation marks. It changes with the contents and with any metadata. */
export function toEtag({ sha256, type, filename, isPublic, properties }: Metadata & Pick<BlobInfo, "sha256">): string {
  const sorted = Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1));
  return `"${hash("sha256", JSON.stringify([sha256, type, filename, isPublic, sorted]))}"`;
}

/** The version of a blob for conditional requests. */
export function toVersion(blob: BlobInfo): Version {
  return { etag: toEtag(blob), modified: new Date(blob.modified) };
}

/**
 * The JSON of a blob. PROTOCOL 4
 *
 * @param sharedUrl - base URL of the site's shared blobs
 * @returns `shared` is the shared URL, `null` for a private blob
 */
export function blobJson(blob: BlobInfo, sharedUrl: string) {
  const { owner, key, size, sha256, type, isPublic, filename, properties, created, modified } = blob;
  return {
    owner,
    key,
    size,
    sha256,
    Type: type,
    Public: isPublic,
    Filename: filename,
    Properties: properties,
    created,
    modified,
    shared: isPublic ? formatSharedUrl(sharedUrl, blob) : null,
  };
}

/** Properties. valibot's `record` would drop those with names such as "constructor". */
export const PROPERTIES = v.custom<Metadata["properties"]>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === "string"),
);

const BLOB_JSON = v.pipe(
  v.object({
    owner: v.string(),
    key: v.pipe(v.string(), v.check(isBlobKey)),
    size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    sha256: v.pipe(v.string(), v.regex(CONTENT_ADDRESS)),
    Type: v.string(),
    Public: v.boolean(),
    Filename: v.string(),
    Properties: PROPERTIES,
    created: v.string(),
    modified: v.string(),
  }),
  v.transform(({ Type, Public, Filename, Properties, ...others }): BlobInfo => {
    return { ...others, type: Type, isPublic: Public, filename: Filename, properties: Properties };
  }),
);

/** Parses the output of {@link blobJson}. @returns `null` for anything else */
export function parseBlobJson(value: unknown): BlobInfo | null {
  const result = v.safeParse(BLOB_JSON, value);
  return result.success ? result.output : null;
}
