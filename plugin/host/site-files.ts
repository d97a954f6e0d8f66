// plugin/host/site-files.ts: serves the files of a built site.
import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import send from "send";
import { isArchiveOf } from "../feed/archives.js";
import { pathOf } from "./node-request.js";

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
  onFeedRead?(userAgent: string): void;
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

  return async (request: IncomingMessage, response: ServerResponse, otherwise?: () => Promise<void>): Promise<void> => {
    const path = pathOf(request);
    const file = path.slice(prefix.length);
    const root = await realRoot(rootOf(path, options), file);
    if (otherwise && root === null) return otherwise();
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refuse(response, 405, "Use GET or HEAD.", { allow: "GET, HEAD" });
    }
    if (prefix !== "" && path === prefix) return redirectToFolder(path, response);
    if (prefix !== "" && !path.startsWith(`${prefix}/`)) return notFound(response, folder);
    if (root === null) return notFound(response, folder);
    if (plainPath(path) === options.feedPath) options.onFeedRead?.(request.headers["user-agent"] ?? "");
    const dotfiles = isWellKnown(file) ? "allow" : "ignore";
    const isDeleted = options.isDeleted?.(pagePath(path)) ?? false;
    if (isDeleted) response.statusCode = 410;
    send(request, file, { root, dotfiles, index: ["index.html"], maxAge: 0, acceptRanges: !isDeleted })
      .on("headers", (answer: ServerResponse) => {
        for (const [name, value] of Object.entries(headersOf(path, options))) answer.setHeader(name, value);
      })
      .on("directory", (answer: ServerResponse) => redirectToFolder(path, answer))
      .on("error", ({ status }: { status?: number }) => {
        if (status === 412) refuse(response, 412, "The file does not match the conditions of the request.");
        else if (status === 416) refuse(response, 416, "The range is outside the file.");
        else void notFound(response, folder);
      })
      .pipe(response);
  };
}

/** The folder of a file. The site may have its own discovery documents for another service. */
function rootOf(path: string, { folder, published, prefix, feedPath }: SiteFilesOptions): string {
  const file = path.slice(prefix.length);
  const isPublishedDocument = isDiscovery(path) && isWellKnown(file) && existsSync(join(published, file));
  return isPublishedDocument || isFeed(path, feedPath) ? published : folder;
}

function headersOf(path: string, { feedPath, endpoint, needsLinkHeader }: SiteFilesOptions): Record<string, string> {
  const headers = { "X-Content-Type-Options": "nosniff" };
  const shared = { ...headers, "Access-Control-Allow-Origin": "*" };
  if (isDiscovery(path)) return { ...shared, "Content-Type": "application/json" };
  const link = endpoint === null ? {} : { Link: `<${endpoint}>; rel="webmention"` };
  if (!isFeed(path, feedPath)) return needsLinkHeader?.(pagePath(path)) ? { ...headers, ...link } : headers;
  return { ...shared, ...link, "Content-Type": "text/plain; charset=utf-8" };
}

/** Whether a path leads to the feed or an archive of it, also when spelled differently: `/%74wtxt.txt`, `//twtxt.txt`. */
function isFeed(path: string, feedPath: string): boolean {
  const plain = plainPath(path);
  return plain === feedPath || isArchiveOf(feedPath, plain);
}

/** The decoded path of a page, without `index.html`. */
export function pagePath(path: string): string {
  return plainPath(path).replace(/\/index\.html$/, "/");
}

function plainPath(path: string): string {
  try {
    return posix.normalize(decodeURIComponent(path));
  } catch {
    return path;
  }
}

/** The only dotfiles that are served, and no path through them: `/.well-known/../.env`. */
function isWellKnown(file: string): boolean {
  return /^\/\.well-known\/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(file);
}

function isDiscovery(path: string): boolean {
  return /\/\.well-known\/(msg|salty)\/[^/]+\.json$/.test(path);
}

/**
 * The real path of a folder that has a file. All of an answer comes from there, even if a deploy replaces a link to the folder.
 *
 * @param urlPath - percent-encoded; a path that ends with a slash means the index of a folder
 * @returns `null` if the file does not exist, or if links lead out of the folder
 */
async function realRoot(folder: string, urlPath: string): Promise<string | null> {
  try {
    const file = decodeURIComponent(urlPath.endsWith("/") ? `${urlPath}index.html` : urlPath);
    const root = await realpath(folder);
    const path = relative(root, await realpath(join(root, file)));
    return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path) ? null : root;
  } catch {
    return null;
  }
}

/** With a relative location, which keeps the path prefix and cannot name another host. */
function redirectToFolder(path: string, response: ServerResponse): void {
  response.writeHead(301, { location: `./${path.slice(path.lastIndexOf("/") + 1)}/` }).end();
}

function refuse(response: ServerResponse, status: number, why: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, "content-type": "text/plain; charset=utf-8" });
  response.end(`${why}\n`);
}

async function notFound(response: ServerResponse, folder: string): Promise<void> {
  const root = await realRoot(folder, "/404.html");
  const page = root === null ? null : await readFile(join(root, "404.html")).catch(() => null);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const type = page ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  response.writeHead(404, { "content-type": type, "cache-control": "no-cache" });
  response.end(page ?? "Not found.\n");
}
