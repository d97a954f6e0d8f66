// plugin/client/contents-response.ts: responses with the contents of files. Nothing in them can run.
import { ANY_TYPE, formatDisposition } from "../blobs/metadata.js";

const SANDBOX = "sandbox; default-src 'none'";

interface Contents {
  body: Uint8Array | ReadableStream<Uint8Array>;
  /** Without it, the whole body is read to compute one. */
  etag?: string;
}

export interface Picture extends Contents {
  /** A raster format. SVG can contain scripts. */
  type: string;
}

export interface Download extends Contents {
  filename: string;
  /** In bytes. */
  size: number;
}

/** A picture, as its own type. */
export function pictureResponse({ type, ...contents }: Picture): Response {
  return contentsResponse(contents, { "content-type": type });
}

/** A file to save, of any type, under its own name. */
export function downloadResponse({ filename, size, ...contents }: Download): Response {
  return contentsResponse(contents, {
    "content-type": ANY_TYPE,
    "content-length": String(size),
    "content-disposition": formatDisposition("attachment", filename),
  });
}

function contentsResponse({ body, etag }: Contents, headers: Record<string, string>): Response {
  const withEtag = etag === undefined ? headers : { ...headers, etag: `"${etag}"` };
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream, {
    headers: { ...withEtag, "content-security-policy": SANDBOX },
  });
}
