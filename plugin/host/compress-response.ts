// plugin/host/compress-response.ts: compresses the responses of endpoints.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { HttpResponse } from "../http/respond.js";
import { readEncodings } from "./compressed-copies.js";

const TEXT = /^(?:text\/html|application\/(?:atom\+xml|json))(?:;|$)/;
/** Smaller responses fit into a packet. */
const MIN_BYTES = 1024;

/**
 * Compresses a public response of HTML, JSON or Atom with gzip, if the client accepts it. Responses that only some clients may
 * read, streams, and those with ranges stay as they are.
 *
 * @param accepted - the header `Accept-Encoding` of the request
 */
export async function compressResponse(
  response: HttpResponse,
  accepted: string | string[] | undefined,
): Promise<HttpResponse> {
  const { body, status, headers } = response;
  const isPrivate = /\bprivate\b/.test(headers["cache-control"] ?? "");
  const isText = TEXT.test(headers["content-type"] ?? "");
  const isWhole = typeof body === "string" || body instanceof Uint8Array;
  if (!isWhole || status !== 200 || !isText || isPrivate || "accept-ranges" in headers) return response;

  if (Buffer.byteLength(body) < MIN_BYTES) return response;
  const vary = [headers.vary ?? [], "accept-encoding"].flat().join(", ");
  if (!readEncodings(accepted).includes("gzip")) return { ...response, headers: { ...headers, vary } };
  const { "content-length": _, ...others } = headers;
  // A strong ETag would name the same bytes.
  const etag = headers.etag && { etag: headers.etag.replace(/^"/, 'W/"') };
  return {
    status,
    headers: { ...others, ...etag, vary, "content-encoding": "gzip" },
    body: await promisify(gzip)(body),
  };
}
