// plugin/blobs/blob.ts: a blob: an owner's bytes under a key, with metadata.
import { hash } from "node:crypto";
import * as v from "valibot";
import type { Version } from "../http/conditions.js";
import { formatSharedUrl, isBlobKey } from "../site/routes.js";

const CONTENT_ADDRESS = /^[0-9a-f]{64}$/;

/** valibot's `record` would drop properties with names such as "constructor". */
const isProperties = (value: unknown) =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((text) => typeof text === "string");

export const BLOB = v.object({
  /** The owner's key, `kex1...`. */
  owner: v.string(),
  key: v.pipe(v.string(), v.check(isBlobKey)),
  /** Size of the contents in bytes. */
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** SHA-256 of the contents in lowercase hex. */
  sha256: v.pipe(v.string(), v.regex(CONTENT_ADDRESS)),
  /** A media type, such as `image/jpeg`. */
  type: v.string(),
  /** Name for downloads; empty for none. */
  filename: v.string(),
  /** Whether its shared URL is public. */
  isPublic: v.boolean(),
  /** Custom properties, including the owner's proof: see proof.ts. */
  properties: v.custom<Readonly<Record<string, string>>>(isProperties),
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  created: v.string(),
  /** When contents or metadata last changed, in the same format. */
  modified: v.string(),
});

/** A blob without its contents, with the times that the site adds. */
export type BlobInfo = v.InferOutput<typeof BLOB>;
/** The same, as its owner describes it. */
export type BlobFields = Omit<BlobInfo, "created" | "modified">;
export type Metadata = Pick<BlobInfo, "type" | "filename" | "isPublic" | "properties">;

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

/** Parses the output of {@link blobJson}. @returns `null` for anything else */
export function parseBlobJson(value: unknown): BlobInfo | null {
  const { Type, Public, Filename, Properties, ...others } = Object(value);
  const fields = { ...others, type: Type, isPublic: Public, filename: Filename, properties: Properties };
  const result = v.safeParse(BLOB, fields);
  return result.success ? result.output : null;
}
