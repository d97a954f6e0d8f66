// plugin/blobs/client/shown.ts: a blob as a site shows it in the headers of an answer: nothing of it is certain.
import { TwtxtError } from "../../errors.js";
import { type BlobInfo, isContentAddress } from "../blob.js";
import { changeIn } from "../metadata-headers.js";

/** A blob that a site shows. */
export interface ShownBlob extends Omit<BlobInfo, "created" | "modified" | "size"> {
  /** What its proof or its key says of the contents, in hex; empty where nothing does. */
  sha256: string;
  /** In bytes; `null` where a host on the way has left it out. */
  size: number | null;
  /** Strong, with its quotation marks. */
  etag: string;
}

/**
 * Reads the headers of an answer that tells of a blob.
 *
 * @param url - that has answered
 * @throws TwtxtError `blob-tampered` for what is no such answer
 */
export function shownBlob(url: string, { owner, key }: Pick<BlobInfo, "owner" | "key">, headers: Headers): ShownBlob {
  const strange = () => new TwtxtError("blob-tampered", `${url} answers with something that is no blob.`);
  try {
    const { type, filename = "", isPublic, properties } = changeIn(headers);
    if (type === undefined || isPublic === undefined || properties === undefined) throw strange();
    const said = isContentAddress(properties.sha256 ?? "") ? properties.sha256 : undefined;
    return {
      ...{ owner, key, type, filename, isPublic, properties },
      sha256: said ?? (isContentAddress(key) ? key : ""),
      size: sizeIn(headers),
      // A server that may compress weakens the etag of what it sends.
      etag: (headers.get("etag") ?? "").replace(/^W\//, ""),
    };
  } catch (error) {
    throw error instanceof TwtxtError ? strange() : error;
  }
}

function sizeIn(headers: Headers): number | null {
  const size = headers.get("content-length") ?? "";
  return /^\d{1,15}$/.test(size) ? Number(size) : null;
}
