// plugin/client/write/built-page.ts: a page of the site inside the client: its URLs lead to the client, and nothing in it can run.
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import mime from "mime";
import { findPictures } from "../../author/notes/note-pictures.js";
import type { Site } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import { findRealPath, isBelow } from "../../site/real-path.js";
import { readPrefix } from "../../site/routes.js";
import { picturePath, SITE_PATH } from "./paths.js";

/** The page is of the client's own origin, so that it gets its pictures, and has no scripts, forms or other hosts. */
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "sandbox allow-same-origin; default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; media-src 'self'; form-action 'none'; frame-ancestors 'self'",
  "x-frame-options": "SAMEORIGIN",
};
const ASSET_POLICY = "sandbox; default-src 'none'";
const ASSETS = /^(?:text\/css|(?:image|font|audio|video)\/.+)$/;
const MAX_ASSET_BYTES = 20 * 2 ** 20;

const HEAD = /<head(?:\s[^>]*)?>/i;
/** A root-relative or absolute URL in an attribute that loads something. */
const LOADED = /(\s(?:src|href|poster)\s*=\s*["']?)([^"'\s>]+)/gi;
const SOURCES = /(\ssrcset\s*=\s*)(["'])(.*?)\2/gis;
/** Hints to contact other hosts. */
const HINTS = /<link\b[^>]*\brel\s*=\s*["']?(?:preconnect|dns-prefetch)\b[^>]*>/gi;
const IN_CSS = /(url\(\s*["']?|@import\s+["'])(?=\/)/gi;

/** The URL of a picture while the site is built. Image plugins leave data URLs alone. */
export function pictureMark(name: string): string {
  return `data:image/png;base64,${Buffer.from(`twtxt:${name}`).toString("base64")}`;
}

/** A response with a built page. @param draft - the ID of the draft, whose pictures the page shows */
export function pageResponse(
  { url, html }: { url: string; html: string },
  { site, draft, body }: { site: Site; draft: string; body: string },
): Response {
  const own = (link: string) => ownPath(link, site);
  const linked = html
    .replace(HINTS, "")
    .replace(LOADED, (_, before: string, link: string) => before + own(link))
    .replace(SOURCES, (_, before: string, quote: string, list: string) => {
      const sources = list.split(/,\s+/).map((source) => source.trim().replace(/^\S+/, own));
      return before + quote + sources.join(", ") + quote;
    });
  const shown = findPictures(body).reduce(
    (text, name) => text.replaceAll(pictureMark(name), picturePath(draft, name)),
    linked,
  );
  const base = `<base href="${own(url)}" target="_blank">`;
  const page = HEAD.test(shown) ? shown.replace(HEAD, (head) => head + base) : base + shown;
  return new Response(page, { headers: PAGE_HEADERS });
}

/** A URL of the site's own files at the client; other URLs stay as they are. */
function ownPath(link: string, { settings }: Site): string {
  const { origin } = new URL(settings.url);
  const path = link.startsWith(`${origin}/`) ? link.slice(origin.length) : link;
  if (!path.startsWith("/") || path.startsWith("//")) return link;
  const prefix = readPrefix(settings);
  return SITE_PATH + (path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path);
}

/**
 * A stylesheet, picture or font of the last build.
 *
 * @param path - as in the URL, without the path prefix of the site
 * @throws TwtxtError `not-found` for files of other types, and outside of the built site
 */
export async function assetResponse(path: string, site: Site): Promise<Response> {
  const output = findRealPath(resolve(site.file("."), site.settings.output));
  const type = mime.getType(path) ?? "";
  const file = path.includes("\0") || output === null ? null : findRealPath(resolve(output, path));
  if (file === null || output === null || !isBelow(output, file) || !ASSETS.test(type)) throw noAsset();
  const found = await stat(file).catch(() => null);
  if (!found?.isFile() || found.size > MAX_ASSET_BYTES) throw noAsset();
  const bytes = await readFile(file);
  const body = type === "text/css" ? bytes.toString().replace(IN_CSS, `$1${SITE_PATH}`) : new Uint8Array(bytes);
  return new Response(body, { headers: { "content-type": type, "content-security-policy": ASSET_POLICY } });
}

function noAsset(): TwtxtError {
  return new TwtxtError("not-found", "The built site has no such file.");
}
