// plugin/http/public-json.ts: public JSON that browsers and the CDN keep.
import { createHash } from "node:crypto";
import { matchesEtag } from "./respond.js";

/** JSON lists are public, and the site's pages may be on another origin. */
export const CORS = { "access-control-allow-origin": "*" };

/** How a CDN keeps a response. */
export interface CdnCache {
  /** The tag by which its copies are purged. */
  tag: string;
  seconds: number;
  /** The query parameters that change the response. */
  parameters: readonly string[];
}

/**
 * The response to GET or HEAD. Browsers revalidate every time; the CDN keeps its copy until it is purged or too old.
 *
 * @param body - JSON
 */
export function publicJson(body: string, request: Request, { tag, seconds, parameters }: CdnCache): Response {
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  const headers = {
    "content-type": "application/json",
    ...CORS,
    etag,
    "cache-control": "public, max-age=0, must-revalidate",
    "x-content-type-options": "nosniff",
  };
  // Without CDN headers: the CDN must not answer others with a 304.
  if (matchesEtag(request, etag)) return new Response(null, { status: 304, headers });
  return new Response(request.method === "HEAD" ? null : body, {
    headers: {
      ...headers,
      "netlify-cdn-cache-control": `public, durable, s-maxage=${seconds}`,
      "netlify-cache-tag": tag,
      "netlify-vary": `query=${parameters.join("|")}`,
    },
  });
}
