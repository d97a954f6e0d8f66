// plugin/host/compress-response.ts: compresses the responses of endpoints.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
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
export async function compressResponse(response: Response, accepted: string | string[] | undefined): Promise<Response> {
  const { body, status, headers: given } = response;
  const isPrivate = /\bprivate\b/.test(given.get("cache-control") ?? "");
  const isText = TEXT.test(given.get("content-type") ?? "");
  if (!body || status !== 200 || !isText || isPrivate || given.has("accept-ranges")) return response;

  const headers = new Headers(given);
  const contents = Buffer.from(await response.arrayBuffer());
  if (contents.length < MIN_BYTES) return new Response(contents, { headers });
  headers.append("vary", "accept-encoding");
  if (!readEncodings(accepted).includes("gzip")) return new Response(contents, { headers });
  headers.set("content-encoding", "gzip");
  headers.delete("content-length");
  // A strong ETag would name the same bytes.
  const etag = headers.get("etag");
  if (etag?.startsWith('"')) headers.set("etag", `W/${etag}`);
  return new Response(await promisify(gzip)(contents), { headers });
}
