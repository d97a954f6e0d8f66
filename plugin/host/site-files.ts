// plugin/host/site-files.ts: serves the files of a built site.
import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import send from "send";
import { isArchiveOf } from "../feed/archive.js";
import { pathOf } from "./request-target.js";

export interface SiteFilesOptions {
  /** The folder of the built site. */
  folder: string;
  /** The folder of its feed and discovery documents, which a development build of the site leaves as they are. */
  published: string;
  /** What stands before every path of the site, as `/blog`; empty for none. */
  prefix: string;
  /** The path of the feed, as `/blog/twtxt.txt`. */
  feedPath: string;
  /** The endpoint that the feed's `Link` header names; `null` for none. */
  endpoint: string | null;
}

/**
 * Serves them with what readers of the feed need: UTF-8, any origin, the endpoint in a `Link` header, and the same
 * `Last-Modified` and `ETag` in a 304 as in a 200. A symbolic link that leads out of the folder is answered with 404.
 *
 * @see PROTOCOL 1.1
 */
export function siteFiles({ folder, published, prefix, feedPath, endpoint }: SiteFilesOptions) {
  const isOfFeed = (path: string) => path === feedPath || isArchiveOf(feedPath, path);

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      refuse(response, 405, "Use GET or HEAD.", { allow: "GET, HEAD" });
      return;
    }
    if (prefix !== "" && path === prefix) {
      toFolder(path, response);
      return;
    }
    if (prefix !== "" && !path.startsWith(`${prefix}/`)) {
      return notFound(response, folder);
    }
    const file = path.slice(prefix.length);
    const dotfiles = isWellKnown(file) ? "allow" : "ignore";
    const isFeed = isOfFeed(plain(path));
    // A site may have documents of its own for another service.
    const isPublished = isFeed || (isDiscovery(path) && isWellKnown(file) && existsSync(join(published, file)));
    const root = isPublished ? published : folder;
    if (!(await isInside(root, file))) return notFound(response, folder);
    send(request, file, { root, dotfiles, index: ["index.html"], maxAge: 0 })
      .on("headers", (answer: ServerResponse) => {
        if (isFeed) answer.setHeader("Content-Type", "text/plain; charset=utf-8");
        if (isFeed && endpoint !== null) answer.setHeader("Link", `<${endpoint}>; rel="webmention"`);
        if (isDiscovery(path)) answer.setHeader("Content-Type", "application/json");
        if (isFeed || isDiscovery(path)) answer.setHeader("Access-Control-Allow-Origin", "*");
        answer.setHeader("X-Content-Type-Options", "nosniff");
      })
      .on("directory", (answer: ServerResponse) => toFolder(path, answer))
      .on("error", ({ status }: { status?: number }) => {
        if (status === 412) refuse(response, 412, "The file does not match the conditions of the request.");
        else if (status === 416) refuse(response, 416, "The range is outside the file.");
        else void notFound(response, folder);
      })
      .pipe(response);
  };
}

/** Of all names that begin with a dot this one alone is served, and nothing by way of it: `/.well-known/../.env`. */
function isWellKnown(file: string): boolean {
  return /^\/\.well-known\/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(file);
}

/** The path that another spelling of it leads to, such as `/%74wtxt.txt` or `//twtxt.txt`. */
function plain(path: string): string {
  try {
    return posix.normalize(decodeURIComponent(path));
  } catch {
    return path;
  }
}

function isDiscovery(path: string): boolean {
  return /\/\.well-known\/(msg|salty)\/[^/]+\.json$/.test(path);
}

/** @param path - as it stands in a URL, percent-encoded; one that ends with a slash means the index of a folder */
async function isInside(folder: string, path: string): Promise<boolean> {
  try {
    const file = decodeURIComponent(path.endsWith("/") ? `${path}index.html` : path);
    const [root, target] = await Promise.all([realpath(folder), realpath(join(folder, file))]);
    const way = relative(root, target);
    return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  } catch {
    return false;
  }
}

/** Relative, so that neither the prefix is lost nor another host is named. */
function toFolder(path: string, response: ServerResponse): void {
  response.writeHead(301, { location: `./${path.slice(path.lastIndexOf("/") + 1)}/` }).end();
}

function refuse(response: ServerResponse, status: number, why: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, "content-type": "text/plain; charset=utf-8" });
  response.end(`${why}\n`);
}

async function notFound(response: ServerResponse, folder: string): Promise<void> {
  const page = (await isInside(folder, "/404.html"))
    ? await readFile(join(folder, "404.html")).catch(() => null)
    : null;
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const type = page ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
  response.writeHead(404, { "content-type": type, "cache-control": "no-cache" });
  response.end(page ?? "Not found.\n");
}
