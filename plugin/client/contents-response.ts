// plugin/client/contents-response.ts: responses with the contents of files. Nothing in them can run.
import { ANY_TYPE, formatDisposition } from "../blobs/metadata.js";

interface Contents {
  body: Uint8Array | ReadableStream<Uint8Array>;
  /** Without it, the whole body is read to compute one. */
  etag?: string;
}

/** A picture, as its own type. @param type - of a raster format: SVG can contain scripts */
export function pictureResponse({ type, ...contents }: Contents & { type: string }): Response {
  return contentsResponse(contents, { "content-type": type });
}

/** A file to save. */
export interface Download extends Contents {
  filename: string;
  /** In bytes. */
  size: number;
}

/** A file of any type, under its own name. */
export function downloadResponse({ filename, size, ...contents }: Download): Response {
  return contentsResponse(contents, {
    "content-type": ANY_TYPE,
    "content-length": String(size),
    "content-disposition": formatDisposition("attachment", filename),
  });
}

function contentsResponse({ body, etag }: Contents, headers: Record<string, string>): Response {
  const policy = { "content-security-policy": "sandbox; default-src 'none'" };
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream, {
    headers: { ...headers, ...policy, ...(etag !== undefined && { etag: `"${etag}"` }) },
  });
}
