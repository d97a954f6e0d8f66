// plugin/blobs/client/client.ts: client of a site's blob endpoints, for the owner of the blobs. PROTOCOL 4
import { hash } from "node:crypto";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import type { AskSite, SiteAnswer, SiteRequest } from "../../http/site-api.js";
import { type BlobFields, type BlobInfo, isContentAddress, type Metadata, parseBlobJson } from "../blob.js";
import { checkProperties, encodeMetadata, readChange, toHeaders } from "../metadata.js";

/** The contents of a blob. They can be read more than once. */
export interface Contents {
  size: number;
  /** In lowercase hex. */
  sha256: string;
  /** @throws TwtxtError `bad-file` if they have changed */
  chunks(): AsyncIterable<Uint8Array>;
}

/** A blob as the headers of a response describe it. Nothing of it is verified. */
export interface RemoteBlob extends Omit<BlobFields, "size"> {
  /** By the proof or the key, in hex; empty if unknown. */
  sha256: string;
  /** In bytes; `null` if a proxy left it out. */
  size: number | null;
  /** Strong, with quotation marks. */
  etag: string;
}

export interface Download {
  blob: RemoteBlob;
  /** Can be read once. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Closes the connection of contents that are not read to their end. */
  close(): void;
}

/** A page of a list of blobs. */
interface NewestBlobs {
  blobs: BlobInfo[];
  /** The cursor of the next page; `null` for the last one. */
  next: string | null;
  /** Of all blobs. */
  count: number;
  bytes: number;
}

export interface ChangeResponse {
  isNew: boolean;
  /** A warning of the site, a sentence; `null` for none. */
  note: string | null;
}

/** A list has 100 blobs on each page, and a site stores at most 100,000. Some may come while it is read. */
const MAX_PAGES = 1_100;
const MAX_ON_PAGE = 100;

/** All methods throw TwtxtError as {@link AskSite}, and `blob-tampered` for an invalid response. */
export class BlobClient {
  /** @param owner - the key that signs the requests, `kex1...` */
  constructor(
    private readonly ask: AskSite,
    private readonly owner: string,
  ) {}

  /** @returns `null` if there is no such blob */
  async head(key: string): Promise<(RemoteBlob & { size: number }) | null> {
    const answer = await ifExists(this.ask({ method: "HEAD", path: toPath(key) }));
    if (!answer) return null;
    const blob = this.#remoteBlob(key, answer);
    if (blob.size !== null) return { ...blob, size: blob.size };
    const listed = await this.find(key);
    return listed ? { ...blob, size: listed.size } : null;
  }

  /** A blob as the list has it, with its times. @returns `null` if there is no such blob */
  async find(key: string): Promise<BlobInfo | null> {
    // The list is in the order of the keys' hashes, and begins after a given one.
    const before = BigInt(`0x${hash("sha256", key)}`) - 1n;
    const path = `?after=${before.toString(16).padStart(64, "0")}&limit=1`;
    const { blobs } = Object(await (await this.ask({ method: "GET", path })).json());
    return parseBlobs(blobs, this.owner).find((one) => one.key === key) ?? null;
  }

  /** @returns `null` if there is no such blob */
  async get(key: string): Promise<Download | null> {
    const answer = await ifExists(this.ask({ method: "GET", path: toPath(key) }));
    return answer && { blob: this.#remoteBlob(key, answer), chunks: answer.chunks, close: answer.close };
  }

  /**
   * @param etag - of the blob to replace; `null` for a new one
   * @throws TwtxtError `precondition-failed` if the site has another version
   */
  put(key: string, { size, sha256, chunks }: Contents, metadata: Metadata, etag: string | null) {
    const condition: Record<string, string> = etag === null ? { "if-none-match": "*" } : { "if-match": etag };
    const headers = { ...toHeaders(metadata), ...condition };
    const body = { size, sha256: Buffer.from(sha256, "hex"), chunks };
    return this.#change({ method: "PUT", path: toPath(key), headers, body });
  }

  /** Changes the metadata. @param etag - as for {@link put} */
  change(key: string, metadata: Metadata, etag: string) {
    const headers = { "content-type": "application/json", "if-match": etag };
    return this.#change({ method: "POST", path: toPath(key), headers, body: encodeMetadata(metadata) });
  }

  /** @returns `null` if there is no such blob */
  delete(key: string): Promise<ChangeResponse | null> {
    return ifExists(this.#change({ method: "DELETE", path: toPath(key) }));
  }

  /**
   * A page of the blobs, those with the newest contents first, with the number and size of all.
   *
   * @param after - the `next` of the page before; empty for the first
   */
  async newest(limit: number, after = ""): Promise<NewestBlobs> {
    const cursor = after && `&after=${encodeURIComponent(after)}`;
    const answer = await this.ask({ method: "GET", path: `?order=newest&limit=${limit}${cursor}` });
    const { blobs, next, count, bytes } = Object(await answer.json());
    const isPage = [count, bytes].every(Number.isSafeInteger) && (next === null || typeof next === "string");
    if (!isPage || next === after) throw notBlobs();
    return { blobs: parseBlobs(blobs, this.owner), next, count, bytes };
  }

  /** All blobs, in no order. */
  async list(): Promise<BlobInfo[]> {
    const blobs: BlobInfo[] = [];
    let after = "";
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = Object(await (await this.ask({ method: "GET", path: after && `?after=${after}` })).json());
      blobs.push(...parseBlobs(page.blobs, this.owner));
      const { next } = page;
      if (next === null) return blobs;
      // Each cursor is greater than the one before, or the list would have no end.
      if (typeof next !== "string" || !isContentAddress(next) || next <= after) break;
      after = next;
    }
    throw notBlobs();
  }

  #remoteBlob(key: string, { headers }: SiteAnswer): RemoteBlob {
    return remoteBlob("The site", { owner: this.owner, key }, headers);
  }

  async #change(request: SiteRequest): Promise<ChangeResponse> {
    const answer = await this.ask(request);
    const json = await answer.json();
    if (!parseBlobJson(json)) throw notBlobs();
    const { purged, note } = Object(json);
    return { isNew: answer.status === 201, note: purged === false ? oneLine(String(note)) : null };
  }
}

/**
 * Reads a blob from the headers of a response.
 *
 * @param url - that has answered, for messages
 * @throws TwtxtError `blob-tampered` for invalid headers
 */
export function remoteBlob(
  url: string,
  { owner, key }: Pick<BlobFields, "owner" | "key">,
  headers: Headers,
): RemoteBlob {
  const notBlob = () => new TwtxtError("blob-tampered", `The response of ${url} is not a blob.`);
  try {
    const { type, filename = "", isPublic, properties } = readChange(headers);
    if (type === undefined || isPublic === undefined || properties === undefined) throw notBlob();
    const sha256 = [properties.sha256, key].find((hash) => hash !== undefined && isContentAddress(hash)) ?? "";
    const length = headers.get("content-length") ?? "";
    const size = /^\d{1,15}$/.test(length) ? Number(length) : null;
    // A server that may compress weakens the ETag.
    const etag = (headers.get("etag") ?? "").replace(/^W\//, "");
    return { owner, key, type, filename, isPublic, properties, sha256, size, etag };
  } catch (error) {
    throw ifTwtxtError(notBlob)(error);
  }
}

function toPath(key: string): string {
  return `/${encodeURIComponent(key)}`;
}

function ifExists<T>(asking: Promise<T>): Promise<T | null> {
  return asking.catch(ifTwtxtError(() => null, "not-found"));
}

/** @param owner - of all blobs: a proof of another owner is not valid for them */
function parseBlobs(values: unknown, owner: string): BlobInfo[] {
  if (!Array.isArray(values) || values.length > MAX_ON_PAGE) throw notBlobs();
  return values.map((value) => {
    const blob = parseBlobJson(value);
    if (!blob) throw notBlobs();
    try {
      // A list with larger properties would not fit in memory.
      checkProperties(blob.properties);
    } catch {
      throw notBlobs();
    }
    return { ...blob, owner };
  });
}

function notBlobs(): TwtxtError {
  return new TwtxtError("blob-tampered", "The response of the site is not a list of blobs.");
}
