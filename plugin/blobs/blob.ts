// plugin/blobs/blob.ts: a blob: bytes that an owner keeps under a key, and what is said of them.
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Version } from "../http/conditions.js";
import { isBlobKey, sharedUrlOf } from "../site/blob-url.js";

/** What an owner says of the contents. */
export interface Metadata {
  /** A media type, such as `image/jpeg`. */
  type: string;
  /** Under which it is to be saved; empty for none. */
  filename: string;
  /** Whether anybody may read it by its shared URL. */
  isPublic: boolean;
  /** The owner's own, and in them the owner's proof: see proof.ts. */
  properties: Readonly<Record<string, string>>;
}

/** A blob without its contents. */
export interface BlobInfo extends Metadata {
  /** Whose it is, `kex1...`. */
  owner: string;
  key: string;
  /** Of the contents, in bytes. */
  size: number;
  /** Of the contents, in lower-case hex. */
  sha256: string;
  /** `YYYY-MM-DDThh:mm:ss.sssZ` */
  created: string;
  /** When contents or metadata were last changed, in the same form. */
  modified: string;
}

const CONTENT_ADDRESS = /^[0-9a-f]{64}$/;

/** Whether a key says which contents it has: the SHA-256 of them. PROTOCOL 4 */
export function isContentAddress(key: string): boolean {
  return CONTENT_ADDRESS.test(key);
}

/**
 * The strong `ETag` of a blob. It changes with the contents and with each part of the metadata, so that a condition loses
 * no change of either.
 *
 * @returns with its quotation marks
 */
export function etagOf({ sha256, type, filename, isPublic, properties }: Metadata & Pick<BlobInfo, "sha256">): string {
  const said = JSON.stringify([sha256, type, filename, isPublic, sorted(properties)]);
  return `"${createHash("sha256").update(said).digest("hex")}"`;
}

/** What conditions of requests are about. */
export function versionOf(blob: BlobInfo): Version {
  return { etag: etagOf(blob), modified: new Date(blob.modified) };
}

function sorted(properties: Metadata["properties"]): [string, string][] {
  return Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A blob as the service tells of it. PROTOCOL 4 */
export interface BlobJson {
  owner: string;
  key: string;
  size: number;
  sha256: string;
  Type: string;
  Public: boolean;
  Filename: string;
  Properties: Readonly<Record<string, string>>;
  created: string;
  modified: string;
  /** The shared URL; `null` for a private one. */
  shared: string | null;
}

/** @param sharedUrl - where the owner's blobs are shared: that of each is below it */
export function blobJson(blob: BlobInfo, sharedUrl: string): BlobJson {
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
    shared: isPublic ? sharedUrlOf(sharedUrl, blob) : null,
  };
}

/** Properties as they are stored and told. A record of valibot's leaves out those with the name of a constructor. */
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

/** Reads what {@link blobJson} has made. @returns `null` for what is none */
export function parseBlobJson(value: unknown): BlobInfo | null {
  const result = v.safeParse(BLOB_JSON, value);
  return result.success ? result.output : null;
}
