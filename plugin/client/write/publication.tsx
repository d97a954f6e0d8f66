// plugin/client/write/publication.tsx: publishes a post by git, after a confirmation.
import type { Context } from "hono";
import { pageOf } from "../../author/notes/compose.js";
import { afterPush, type Publication, planPublication, publishableNote } from "../../author/notes/publish.js";
import { isBelow, siteAt } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import type { ClientEnv } from "../client-env.js";
import { formOf } from "../form-fields.js";
import type { ClientContext } from "../room.js";
import { PUBLICATION_PATH, publishPath, WRITE_PATH } from "./paths.js";
import type { PublicationRun } from "./publication-run.js";
import { PublicationPage, PublishPage, shownOf } from "./publish-pages.js";

const CHANGED = "Nothing was published: the repository has changed since the page was shown. Check the commands again.";

export async function publishPage(c: Context<ClientEnv>, context: ClientContext) {
  const post = { file: c.req.query("file") ?? "", hasFollow: c.req.query("follow") !== "no" };
  const plan = await planOf(post, context).catch(faultOf);
  const page = typeof plan === "string" ? { plan: null, fault: plan } : { plan, fault: null };
  return c.render(<PublishPage {...post} {...page} />, { title: "Publish" });
}

/** Starts the commands that the page has shown, and no others. Leads to the publication, which goes on if its page is left. */
export async function runPublication(c: Context<ClientEnv>, publication: PublicationRun, context: ClientContext) {
  const { file = "", follow, shown } = await formOf(c);
  const post = { file, hasFollow: follow !== "no" };
  try {
    await publication.publish(async () => {
      const site = await siteAt(context.machine, context.choice.settings);
      const plan = await planOf(post, context).catch(faultOf);
      if (typeof plan === "string" || shownOf(plan) !== shown) throw new TwtxtError("bad-usage", CHANGED);
      return { ...post, plan, site };
    });
  } catch (error) {
    const text = faultOf(error);
    return context.notices.redirect(c, publishPath(file, post.hasFollow), { text, isFailure: true });
  }
  if (publication.isRunning && publication.post?.file !== file) {
    const text = `${file} is not published yet: another post is. Publish it after that.`;
    return context.notices.redirect(c, publishPath(file, post.hasFollow), { text, isFailure: true });
  }
  return c.redirect(PUBLICATION_PATH, 303);
}

/** The last publication, or the one that is under way. */
export function publicationPage(
  c: Context<ClientEnv>,
  { post, results, isRunning, fault }: PublicationRun,
  { hasRoom }: ClientContext,
) {
  if (post === null) return c.redirect(WRITE_PATH, 303);
  const { file, hasFollow, plan, site } = post;
  const page = {
    ...{ file, remote: plan.remote, output: results, isRunning, fault, hasRoom },
    again: publishPath(file, hasFollow),
    url: pageOf(site.file(file), site),
    next: afterPush(site),
  };
  return c.render(<PublicationPage {...page} />, { title: "Publish" });
}

/** @throws TwtxtError `not-found` for a file that is no post of the site; `not-published` */
async function planOf(
  { file: name, hasFollow }: { file: string; hasFollow: boolean },
  context: ClientContext,
): Promise<Publication> {
  const site = await siteAt(context.machine, context.choice.settings);
  const file = site.file(name);
  if (!isBelow(site.file(site.settings.input), file) || !file.endsWith(".md")) {
    throw new TwtxtError("not-found", "There is no such post.");
  }
  return planPublication({ ...(await publishableNote(file)), hasFollow }, site, context.machine);
}

function faultOf(error: unknown): string {
  if (error instanceof TwtxtError) return error.message;
  throw error;
}
