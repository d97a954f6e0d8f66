// plugin/http/public-list.ts: public lists that the CDN keeps and that pages of any site may read.
import { hash } from "node:crypto";
import {
  allowing,
  type Handler,
  type HttpRequest,
  type HttpResponse,
  matchesEtag,
  type RequestContext,
} from "./respond.js";

/** The site's pages may be on another origin. */
const CORS = { "access-control-allow-origin": "*" };

interface PublicList {
  type: string;
  /** The tag by which its copies are purged. */
  tag: string;
  seconds: number;
  /** The query parameters that change the response. */
  parameters: readonly string[];
}

/**
 * Creates the handler of a public list.
 *
 * @param methods - of its route: GET, HEAD and OPTIONS
 * @param read - returns the list for a URL with its query, and for the parameters of its path
 */
export function publicList(
  methods: readonly string[],
  list: PublicList,
  read: (url: string, params: RequestContext["params"]) => Promise<string>,
): Handler {
  const answer: Handler = async (request, { params }) => responseTo(request, await read(request.url, params), list);
  return allowing(methods, answer, { ...CORS, "access-control-allow-methods": methods.join(", ") });
}

/** The response to GET or HEAD. Browsers revalidate every time; the CDN keeps its copy until it is purged or too old. */
function responseTo(request: HttpRequest, body: string, { type, tag, seconds, parameters }: PublicList): HttpResponse {
  const etag = `"${hash("sha256", body, "base64url")}"`;
  const headers = {
    "content-type": type,
    ...CORS,
    etag,
    "cache-control": "public, max-age=0, must-revalidate",
    "x-content-type-options": "nosniff",
  };
  // Without CDN headers: the CDN must not answer others with a 304.
  if (matchesEtag(request, etag)) return { status: 304, headers, body: null };
  return {
    status: 200,
    body,
    headers: {
      ...headers,
      "netlify-cdn-cache-control": `public, durable, s-maxage=${seconds}`,
      "netlify-cache-tag": tag,
      "netlify-vary": `query=${parameters.join("|")}`,
    },
  };
}
