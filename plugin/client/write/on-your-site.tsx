// plugin/client/write/on-your-site.tsx: a draft as the readers of the site will see it: the built page, whose URLs lead to the client, and nothing in it can run.
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { FC } from "hono/jsx";
import mime from "mime";
import { toVersion } from "../../author/draft-version.js";
import { findPictures, linkPictures } from "../../author/notes/draft-pictures.js";
import { type BuiltPage, buildPage } from "../../author/notes/layout-preview.js";
import { previewNote } from "../../author/notes/notes.js";
import { composeDraft, type PostDraft } from "../../author/notes/post-drafts.js";
import type { Site } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import { findRealPath, isBelow } from "../../site/real-path.js";
import { readPrefix } from "../../site/routes.js";
import type { BackgroundRun } from "../background-run.js";
import type { ClientRequest } from "../client-request.js";
import type { ClientContext } from "../notices.js";
import { Fault } from "../page-parts.js";
import { openDrafts, picturePath, WRITE_PATH } from "./write-requests.js";

/** Files of the built site, for the page of a draft. */
const SITE_PATH = `${WRITE_PATH}/site`;

export type SiteBuildRun = BackgroundRun<BuiltPage, PostDraft>;

/** Builds the page of a draft in the background, unless another one is being built. */
export async function startBuild(
  { draft, folder }: { draft: PostDraft; folder: string },
  build: SiteBuildRun,
  context: ClientContext,
): Promise<void> {
  const { machine, ending: signal } = context;
  if (build.isRunning)
    throw new TwtxtError("bad-usage", "The site is being built for another draft. Try again after that.");
  await build.start(async () => {
    const { site, drafts } = await openDrafts(context);
    const body = linkPictures(draft.body, pictureMark);
    const note = await composeDraft({ ...draft, body }, { folder, place: "beside" }, { drafts, site, machine });
    const post = previewNote(note, machine.now());
    const work = async (add: (page: BuiltPage) => void) => add(await buildPage(post, { site, machine, signal }));
    return { subject: draft, results: work };
  });
}

/** The page for the frame. @throws TwtxtError `not-found` */
export async function builtPage(c: ClientRequest, build: SiteBuildRun, context: ClientContext): Promise<Response> {
  const [page] = build.results;
  const { subject } = build;
  if (page === undefined || subject === null || subject.id !== c.req.query("draft")) {
    throw new TwtxtError("not-found", "This page is no longer there. Build it again.");
  }
  const { site } = await openDrafts(context);
  return pageResponse(page, { site, draft: subject.id, body: subject.body });
}

/** The result of the last build, if it was one of this draft. @param seen - the version that the composer shows */
export const OnYourSite: FC<{ id: string; seen: string; build: SiteBuildRun }> = ({ id, seen, build }) => {
  const { subject, isRunning, fault, results } = build;
  if (subject === null || subject.id !== id) return null;
  return (
    <section aria-labelledby="on-your-site-title">
      <h2 id="on-your-site-title">On your site</h2>
      <div id="on-your-site" data-live>
        {isRunning && (
          <p data-busy="" role="status">
            Building your site with this draft. Nothing is written or published.{" "}
            <span class="unscripted">Reload to see it.</span>
          </p>
        )}
        <Fault text={fault} />
        {results.length > 0 && (
          <>
            {toVersion(subject) !== seen && <p class="muted">The draft has changed since. Build it again to see it.</p>}
            <iframe
              class="built-page"
              title="The post on your site"
              sandbox="allow-same-origin"
              // The version makes a browser request each page anew.
              src={`${WRITE_PATH}/page?draft=${id}&version=${encodeURIComponent(toVersion(subject))}`}
            />
            <p class="muted">
              Scripts do not run here, what other hosts serve is left out, and links do nothing. Stylesheets and
              pictures are those of your last build.
            </p>
          </>
        )}
      </div>
    </section>
  );
};

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
function pictureMark(name: string): string {
  return `data:image/png;base64,${Buffer.from(`twtxt:${name}`).toString("base64")}`;
}

/** A response with a built page. @param draft - the ID of the draft, whose pictures the page shows */
function pageResponse(
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
