// plugin/client/write/on-your-site.tsx: a draft as the readers of the site will see it.
import type { FC } from "hono/jsx";
import { toVersion } from "../../author/draft-version.js";
import { composeDraft } from "../../author/notes/draft-note.js";
import { type BuiltPage, buildPage } from "../../author/notes/layout-preview.js";
import { linkPictures } from "../../author/notes/note-pictures.js";
import { previewNote } from "../../author/notes/notes.js";
import type { PostDraft } from "../../author/notes/post-drafts.js";
import { TwtxtError } from "../../errors.js";
import type { BackgroundRun } from "../background-run.js";
import type { ClientRequest } from "../client-request.js";
import { Fault } from "../page-texts.js";
import type { ClientContext } from "../room.js";
import { pageResponse, pictureMark } from "./built-page.js";
import { openDrafts } from "./open-drafts.js";
import { builtPagePath } from "./paths.js";

/** The last build of a draft's page. */
export type SiteBuildRun = BackgroundRun<BuiltPage, PostDraft>;

/** Builds the page of a draft in the background, unless another one is being built. */
export async function startBuild(
  { draft, folder }: { draft: PostDraft; folder: string },
  build: SiteBuildRun,
  context: ClientContext,
): Promise<void> {
  const { machine, ending: signal } = context;
  if (draft.body === "") throw new TwtxtError("bad-usage", "The note is empty.");
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
              src={builtPagePath(id, toVersion(subject))}
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
