// plugin/host/site-files.ts: serves the files of a built site.
import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, posix } from "node:path";
import { ifTwtxtError } from "../errors.js";
import { isArchivePath } from "../feed/archives.js";
import { decodePercent } from "../url.js";
import { type CompressedCopies, isCompressible, readEncodings } from "./compressed-copies.js";
import { toPath } from "./node-request.js";
import { type FileResponse, findType, sendFile } from "./send-file.js";
import { type StaticFile, StaticFiles } from "./static-files.js";

export interface SiteFilesOptions {
  /** The folder of the built site. */
  folder: string;
  /** The folder with the feed and the discovery documents of the last real build, which a preview does not change. */
  published: string;
  /** The prefix of all paths of the site, such as `/blog`; empty for none. */
  prefix: string;
  /** The path of the feed, such as `/blog/twtxt.txt`. */
  feedPath: string;
  /** The endpoint in the `Link` header of the feed and of some pages; `null` for none. */
  endpoint: string | null;
  /** Whether the page of a decoded path has no `<link>` to the endpoint. */
  needsLinkHeader?(path: string): boolean;
  /** Whether a decoded path is that of a deleted post. The answer is its page, with status 410. */
  isDeleted?(path: string): boolean;
  /** Called for each request for the feed, not for archives. */
  onFeedRead?(request: IncomingMessage): void;
  /** Compressed copies of the files; default none. */
  copies?: CompressedCopies;
}

/**
 * Serves the files of a site. The feed has what its readers need: UTF-8, any origin, the endpoint in a `Link` header, and
 * the same `Last-Modified` and `ETag` in a 304 as in a 200. A symbolic link that leads out of the folder is answered with
 * 404.
 *
 * @see PROTOCOL 1.1
 */
export function siteFiles(options: SiteFilesOptions) {
  const { folder, prefix } = options;
  const files = new StaticFiles();

  return async (request: IncomingMessage, response: ServerResponse, otherwise?: () => Promise<void>): Promise<void> => {
    const path = toPath(request);
    const file = path === prefix || path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : null;
    const found = file === null ? null : await findFile(files, findRoot(path, options), file);
    if (found === null && otherwise) return otherwise();
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refuse(response, 405, "Use GET or HEAD.", { allow: "GET, HEAD" });
    }
    // With a relative location, which keeps the path prefix and cannot name another host.
    if (found === "folder") {
      return void response.writeHead(301, { location: `./${path.slice(path.lastIndexOf("/") + 1)}/` }).end();
    }
    if (found === null) return notFound(files, response, folder);
    if (plainPath(path) === options.feedPath) options.onFeedRead?.(request);
    const isDeleted = options.isDeleted?.(pagePath(path)) ?? false;
    const status = isDeleted ? 410 : 200;
    const headers = toHeaders(path, options);
    const plain: FileResponse = { file: found, encoding: null, type: findType(found.path), status, headers };
    const sending = sendFile(request, response, await chooseCopy(request, plain, files, options.copies));
    await sending.catch(
      ifTwtxtError(({ code }) => {
        if (code !== "precondition-failed")
          return refuse(response, 416, "The range is outside the file.", { "content-range": `bytes */${found.size}` });
        refuse(response, 412, "The file does not match the conditions of the request.");
      }),
    );
  };
}

/** @param urlPath - percent-encoded; a path that ends with a slash means the index of a folder */
function findFile(files: StaticFiles, root: string, urlPath: string): Promise<StaticFile | "folder" | null> {
  const path = decodePath(urlPath.endsWith("/") ? `${urlPath}index.html` : urlPath);
  const isHidden = path === null || (/(?:^|[/\\])\./.test(path) && !isWellKnown(path));
  if (isHidden) return Promise.resolve(null);
  return path === "" ? Promise.resolve("folder") : files.find(root, path);
}

/** A compressed copy of the file that the client accepts, or the file itself. Only whole files are sent compressed. */
async function chooseCopy(
  request: IncomingMessage,
  plain: FileResponse,
  files: StaticFiles,
  copies: CompressedCopies | undefined,
): Promise<FileResponse> {
  if (!copies || !isCompressible(plain.file.path)) return plain;
  const headers = { ...plain.headers, vary: "Accept-Encoding" };
  // A range is one of the plain file. With HEAD it has no meaning (RFC 9110, section 14.2).
  const isPart = request.method === "GET" && request.headers.range !== undefined;
  const accepted = isPart ? [] : readEncodings(request.headers["accept-encoding"]);
  for (const encoding of accepted) {
    const place = copies.find(plain.file, encoding);
    const copy = place && (await files.find(place.folder, place.name));
    if (copy === null || copy === "folder") continue;
    const { modified, etag } = plain.file;
    return { ...plain, headers, encoding, file: { ...copy, modified, etag: `${etag.slice(0, -1)}-${encoding}"` } };
  }
  return { ...plain, headers };
}

/** The folder of a file. The site may have its own discovery documents for another service. */
function findRoot(path: string, { folder, published, prefix, feedPath }: SiteFilesOptions): string {
  const file = path.slice(prefix.length);
  const isPublishedDocument = isDiscovery(path) && isWellKnown(file) && existsSync(join(published, file));
  return isPublishedDocument || isFeed(path, feedPath) ? published : folder;
}

function toHeaders(path: string, { feedPath, endpoint, needsLinkHeader }: SiteFilesOptions): Record<string, string> {
  const headers = { "x-content-type-options": "nosniff" };
  const shared = { ...headers, "access-control-allow-origin": "*" };
  if (isDiscovery(path)) return { ...shared, "content-type": "application/json" };
  const link = endpoint === null ? {} : { link: `<${endpoint}>; rel="webmention"` };
  if (!isFeed(path, feedPath)) return needsLinkHeader?.(pagePath(path)) ? { ...headers, ...link } : headers;
  return { ...shared, ...link, "content-type": "text/plain; charset=utf-8" };
}

/** Whether a path leads to the feed or an archive of it, also when spelled differently: `/%74wtxt.txt`, `//twtxt.txt`. */
function isFeed(path: string, feedPath: string): boolean {
  const plain = plainPath(path);
  return plain === feedPath || isArchivePath(feedPath, plain);
}

/** The decoded path of a page, without `index.html`. */
export function pagePath(path: string): string {
  return plainPath(path).replace(/\/index\.html$/, "/");
}

function plainPath(path: string): string {
  return posix.normalize(decodePath(path) ?? path);
}

/** @returns `null` for a path that is not percent-encoded UTF-8, or with a NUL */
function decodePath(path: string): string | null {
  const decoded = decodePercent(path);
  return decoded?.includes("\0") ? null : decoded;
}

/** The only dotfiles that are served, and no path through them: `/.well-known/../.env`. */
function isWellKnown(file: string): boolean {
  return /^\/\.well-known\/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(file);
}

function isDiscovery(path: string): boolean {
  return /\/\.well-known\/(msg|salty)\/[^/]+\.json$/.test(path);
}

function refuse(response: ServerResponse, status: number, why: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, "content-type": "text/plain; charset=utf-8" });
  response.end(`${why}\n`);
}

async function notFound(files: StaticFiles, response: ServerResponse, folder: string): Promise<void> {
  const page = await files.find(folder, "/404.html");
  const contents = page === "folder" ? null : page?.contents;
  const type = contents ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  response.writeHead(404, { "content-type": type, "cache-control": "no-cache" });
  response.end(contents ?? "Not found.\n");
}
