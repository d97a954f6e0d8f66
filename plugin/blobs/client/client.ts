// plugin/blobs/client/client.ts: an owner's requests to the site that keeps the blobs. PROTOCOL 4
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import type { AskSite, SiteAnswer, SiteRequest } from "../../http/site-api.js";
import { type BlobInfo, type Metadata, parseBlobJson } from "../blob.js";
import { checkProperties } from "../metadata.js";
import { headersOf } from "../metadata-headers.js";
import { type ShownBlob, shownBlob } from "./shown.js";

/** The bytes of a blob, which can be read more than once. */
export interface Contents {
  size: number;
  /** In lower-case hex. */
  sha256: string;
  /** @throws TwtxtError `bad-file` where they are not the same as before */
  chunks(): AsyncIterable<Uint8Array>;
}

/** What a change has led to. */
export interface Changed {
  isNew: boolean;
  /** What went wrong beside it: a sentence; `null` for nothing. */
  note: string | null;
}

/** A blob whose contents are on their way. */
export interface Coming {
  blob: ShownBlob;
  /** Once. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Lets go of contents that are not read to their end. */
  close(): void;
}

/** All functions throw TwtxtError as {@link AskSite}, and `blob-tampered` for an answer that is none. */
export interface BlobClient {
  /** @returns `null` where there is none */
  head(key: string): Promise<(ShownBlob & { size: number }) | null>;
  /** @returns `null` where there is none */
  get(key: string): Promise<Coming | null>;
  /** @param etag - of the blob that is replaced; `null` for a new one. `precondition-failed` where it is another one */
  put(key: string, contents: Contents, metadata: Metadata, etag: string | null): Promise<Changed>;
  /** Changes the metadata. @param etag - as for {@link BlobClient.put} */
  change(key: string, metadata: Metadata, etag: string): Promise<Changed>;
  /** @returns `null` where there is none */
  delete(key: string): Promise<Changed | null>;
  /** All of them, in no order. */
  list(): Promise<BlobInfo[]>;
}

/** Of a list. A site has 100 blobs on each, and 100,000 are the most that it can be told to keep. */
const MAX_PAGES = 2_000;
const MOST_ON_PAGE = 100;

/** @param owner - whose key signs the requests, `kex1...` */
export function blobClient(ask: AskSite, owner: string): BlobClient {
  const changed = async (request: SiteRequest) => changedIn(await ask(request));
  const shown = (key: string, { headers }: SiteAnswer) => shownBlob("The site", { owner, key }, headers);

  const list = async () => {
    const blobs: BlobInfo[] = [];
    let after = "";
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = Object(await (await ask({ method: "GET", path: after && `?after=${after}` })).json());
      blobs.push(...blobsIn(page.blobs, owner));
      const next = nextAfter(page.next, after);
      if (next === null) return blobs;
      after = next;
    }
    throw strange();
  };

  return {
    list,

    async head(key) {
      const answer = await ifExists(ask({ method: "HEAD", path: pathOf(key) }));
      if (!answer) return null;
      const blob = shown(key, answer);
      if (blob.size !== null) return { ...blob, size: blob.size };
      const listed = (await list()).find((one) => one.key === key);
      return listed ? { ...blob, size: listed.size } : null;
    },

    async get(key) {
      const answer = await ifExists(ask({ method: "GET", path: pathOf(key) }));
      return answer && { blob: shown(key, answer), chunks: answer.chunks, close: answer.close };
    },

    put(key, { size, sha256, chunks }, metadata, etag) {
      const condition: Record<string, string> = etag === null ? { "if-none-match": "*" } : { "if-match": etag };
      const headers = { ...headersOf(metadata), ...condition };
      const body = { size, sha256: Buffer.from(sha256, "hex"), chunks };
      return changed({ method: "PUT", path: pathOf(key), headers, body });
    },

    change(key, { type, filename, isPublic, properties }, etag) {
      const said = { Type: type, Filename: filename, Public: isPublic, Properties: properties };
      const headers = { "content-type": "application/json", "if-match": etag };
      return changed({ method: "POST", path: pathOf(key), headers, body: Buffer.from(JSON.stringify(said)) });
    },

    async delete(key) {
      return ifExists(changed({ method: "DELETE", path: pathOf(key) }));
    },
  };
}

function pathOf(key: string): string {
  return `/${encodeURIComponent(key)}`;
}

async function ifExists<T>(asking: Promise<T>): Promise<T | null> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof TwtxtError && error.code === "not-found") return null;
    throw error;
  }
}

async function changedIn(answer: SiteAnswer): Promise<Changed> {
  const json = await answer.json();
  if (!parseBlobJson(json)) throw strange();
  const { purged, note } = Object(json);
  return { isNew: answer.status === 201, note: purged === false ? oneLine(String(note)) : null };
}

/** Whose they are is known: a proof of somebody else's does not hold for them. */
function blobsIn(values: unknown, owner: string): BlobInfo[] {
  if (!Array.isArray(values) || values.length > MOST_ON_PAGE) throw strange();
  return values.map((value) => {
    const blob = parseBlobJson(value);
    if (!blob || !areProperties(blob.properties)) throw strange();
    return { ...blob, owner };
  });
}

/** A list of larger ones would not fit in memory. */
function areProperties(properties: Metadata["properties"]): boolean {
  try {
    checkProperties(properties);
    return true;
  } catch {
    return false;
  }
}

/** Each page is behind the one before, or there would be no end. */
function nextAfter(next: unknown, after: string): string | null {
  if (next === null) return null;
  if (typeof next === "string" && /^[0-9a-f]{64}$/.test(next) && next > after) return next;
  throw strange();
}

function strange(): TwtxtError {
  return new TwtxtError("blob-tampered", "The site answers with something else than blobs.");
}
