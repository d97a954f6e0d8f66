// test/cli/blob-state.ts: blobs whose contents and metadata each tell which request has made them, so that a mixture shows.
import { createHash } from "node:crypto";
import { etagOf, type Metadata } from "../../plugin/blobs/blob.js";
import { headersOf } from "../../plugin/blobs/metadata.js";
import { type Answer, ask, type BlobServer } from "./blob-server.js";

/** What a blob is: its contents, and the number of the request that has said all the rest of it. */
export interface State {
  contents: Uint8Array;
  said: number;
}

const SAID = ["content-type", "content-disposition", "blob-public", "blob-properties"] as const;

/** What the request of this number says, in each part of the metadata. */
export function metadataOf(number: number): Metadata {
  return {
    type: `text/x-${number}`,
    filename: `${number}.txt`,
    isPublic: number % 2 === 0,
    properties: { number: String(number) },
  };
}

/** The contents that the request of this number brings, in which no two pieces are the same. */
export function contentsOf(number: number, size: number): Uint8Array {
  const words = Uint32Array.from({ length: Math.ceil(size / 4) }, (_, at) => Math.imul(at ^ number, 2_654_435_761));
  return new Uint8Array(words.buffer, 0, size);
}

export function put(number: number, contents: Uint8Array) {
  return { method: "PUT", headers: headersOf(metadataOf(number)), body: contents } as const;
}

export function post(number: number) {
  const { type, filename, isPublic, properties } = metadataOf(number);
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ Type: type, Filename: filename, Public: isPublic, Properties: properties })),
  } as const;
}

/** A state in a text; `null` is that of no blob. */
export function textOf(state: State | null): string {
  if (!state) return "none";
  const metadata = metadataOf(state.said);
  const headers: Record<string, string> = headersOf(metadata);
  const sha256 = sha256Of(state.contents);
  const etag = etagOf({ ...metadata, sha256 });
  return [sha256, etag, ...SAID.map((name) => headers[name])].join(" ");
}

/** What Alice reads, in the text of {@link textOf}; an answer that is neither is told as it is. */
export function textIn({ status, headers, body }: Answer): string {
  if (status === 404) return "none";
  if (status !== 200) return `${status} ${body}`;
  return [sha256Of(body), headers.etag, ...SAID.map((name) => headers[name])].join(" ");
}

export async function readText(server: Pick<BlobServer, "url">, key: string): Promise<string> {
  return textIn(await ask(server, { method: "GET", key }));
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
