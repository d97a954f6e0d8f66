// test/cli/blob-state.ts: blobs whose contents and metadata each identify the request that wrote them, so that a mixture is detected.
import { createHash } from "node:crypto";
import { type Metadata, toEtag } from "../../plugin/blobs/blob.js";
import { toHeaders } from "../../plugin/blobs/metadata.js";
import { type BlobResponse, type BlobServer, requestBlob } from "./blob-server.js";

/** The state of a blob: its contents, and the number of the request that wrote its metadata. */
export interface State {
  contents: Uint8Array;
  metadataNumber: number;
}

const METADATA_HEADERS = ["content-type", "content-disposition", "blob-public", "blob-properties"] as const;

/** The metadata of the request with this number, which every field identifies. */
export function metadataOf(number: number): Metadata {
  return {
    type: `text/x-${number}`,
    filename: `${number}.txt`,
    isPublic: number % 2 === 0,
    properties: { number: String(number) },
  };
}

/** The contents of the request with this number. No two chunks are equal. */
export function contentsOf(number: number, size: number): Uint8Array {
  const words = Uint32Array.from({ length: Math.ceil(size / 4) }, (_, at) => Math.imul(at ^ number, 2_654_435_761));
  return new Uint8Array(words.buffer, 0, size);
}

export function put(number: number, contents: Uint8Array) {
  return { method: "PUT", headers: toHeaders(metadataOf(number)), body: contents } as const;
}

export function post(number: number) {
  const { type, filename, isPublic, properties } = metadataOf(number);
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ Type: type, Filename: filename, Public: isPublic, Properties: properties })),
  } as const;
}

/** A state as text; `null` if there is no blob. */
export function textOf(state: State | null): string {
  if (!state) return "none";
  const metadata = metadataOf(state.metadataNumber);
  const headers: Record<string, string> = toHeaders(metadata);
  const sha256 = sha256Of(state.contents);
  const etag = toEtag({ ...metadata, sha256 });
  return [sha256, etag, ...METADATA_HEADERS.map((name) => headers[name])].join(" ");
}

/** The state in a response, as {@link textOf} writes it, or status and body of an error. */
export function textIn({ status, headers, body }: BlobResponse): string {
  if (status === 404) return "none";
  if (status !== 200) return `${status} ${body}`;
  return [sha256Of(body), headers.etag, ...METADATA_HEADERS.map((name) => headers[name])].join(" ");
}

export async function readText(server: Pick<BlobServer, "url">, key: string): Promise<string> {
  return textIn(await requestBlob(server, { method: "GET", key }));
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
