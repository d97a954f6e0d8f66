// plugin/mentions/inform/list-json.ts: the public list of mentions as JSON.
import { createHash } from "node:crypto";
import { TwtxtError } from "../../errors.js";
import {
  type Handler,
  json,
  matchesEtag,
  methodNotAllowed,
  optionsAnswer,
  parseLimit,
  parseParameters,
} from "../../http/respond.js";
import type { MentionList, PublicMention } from "../../site/mention-list.js";
import { ROUTES } from "../../site/routes.js";
import type { ListMentions, MentionQuery, StoredMention } from "../mention.js";
import type { SiteIndex } from "../receive/site-index.js";
import { sourceOf } from "../reference.js";

const { methods } = ROUTES.mentionsJson;
const PARAMETERS = ["target", "after", "limit"] as const;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** The list is public, and the site's pages may be on another origin. */
const CORS = { "access-control-allow-origin": "*" };

/**
 * Lists shown mentions, newest first: `GET /mentions.json?target=&after=&limit=`.
 *
 * Answers 400 `not-our-target` for other sites' URLs, which would otherwise fill the cache.
 *
 * @param cacheTag - the tag by which the CDN's copies are purged
 * @see PROTOCOL 2.4, "The answer"
 */
export function listMentions({ list, siteIndex, cacheTag }: ListParts): Handler {
  return async (request) => {
    switch (request.method) {
      case "GET":
      case "HEAD": {
        const { mentions, next } = await list(queryOf(request.url, siteIndex));
        return answer({ mentions: mentions.map(publicMention), next }, request, cacheTag);
      }
      case "OPTIONS":
        return optionsAnswer(methods, { ...CORS, "access-control-allow-methods": methods.join(", ") });
      default:
        return methodNotAllowed(methods);
    }
  };
}

interface ListParts {
  list: ListMentions;
  siteIndex: Pick<SiteIndex, "target">;
  cacheTag: string;
}

/** The public fields of a mention. */
export function publicMention(mention: StoredMention): PublicMention {
  const { target, under, type, author, text, html, hash, hashV1, subject: replyTo, published, received } = mention;
  const source = sourceOf(mention);
  return { source, target, under, type, author, text, html, hash, hashV1, replyTo, published, received };
}

function queryOf(url: string, siteIndex: ListParts["siteIndex"]): MentionQuery {
  const { target, after, limit } = parseParameters(url, PARAMETERS);
  const canonical = target === undefined ? undefined : siteIndex.target(target)?.url;
  if (target !== undefined && canonical === undefined) {
    throw new TwtxtError("not-our-target", "The target is neither a feed nor a page of this site.");
  }
  return { state: "shown", target: canonical, after, limit: parseLimit(limit, MAX_LIMIT, DEFAULT_LIMIT) };
}

/** Browsers revalidate every time; the CDN keeps its copy until it is purged or an hour old. */
async function answer(list: MentionList, request: Request, cacheTag: string): Promise<Response> {
  const full = json(list);
  const body = await full.text();
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  const headers = {
    ...Object.fromEntries(full.headers),
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
      "netlify-cdn-cache-control": "public, durable, s-maxage=3600",
      "netlify-cache-tag": cacheTag,
      "netlify-vary": `query=${PARAMETERS.join("|")}`,
    },
  });
}
