// plugin/client/write/publication.tsx: publishes a post by git, after a confirmation.
import { type Publication, planPublication, publish, publishableNote } from "../../author/notes/publish.js";
import { isBelow, siteAt } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import { type ClientRequest, formOf } from "../client-request.js";
import type { ClientContext } from "../room.js";
import { PUBLICATION_PATH, publishPath, WRITE_PATH } from "./paths.js";
import { type PlannedPost, PublicationPage, type PublicationRun, PublishPage, shownOf } from "./publish-pages.js";

const CHANGED = "Nothing was published: the repository has changed since the page was shown. Check the commands again.";

export async function publishPage(c: ClientRequest, context: ClientContext) {
  const post = { file: c.req.query("file") ?? "", hasFollow: c.req.query("follow") !== "no" };
  const plan = await planOf(post, context).catch(faultOf);
  const page = typeof plan === "string" ? { plan: null, fault: plan } : { plan, fault: null };
  return c.render(<PublishPage {...post} {...page} />, { title: "Publish" });
}

/** Starts the commands that the page has shown, and no others. Leads to the publication, which goes on if its page is left. */
export async function runPublication(c: ClientRequest, publication: PublicationRun, context: ClientContext) {
  const { file = "", follow, shown } = await formOf(c);
  const hasFollow = follow !== "no";
  return context.notices.orRedirect(c, publishPath(file, hasFollow), async () => {
    await publication.start(async () => {
      const site = await siteAt(context.machine, context.choice.settings);
      const plan = await planOf({ file, hasFollow }, context).catch(faultOf);
      if (typeof plan === "string" || shownOf(plan) !== shown) throw new TwtxtError("bad-usage", CHANGED);
      const post = { file, hasFollow, plan, site };
      return { subject: post, results: (add) => publishPost(post, context, add) };
    });
    if (publication.isRunning && publication.subject?.file !== file) {
      throw new TwtxtError("bad-usage", `${file} is not published yet: another post is. Publish it after that.`);
    }
    return c.redirect(PUBLICATION_PATH, 303);
  });
}

function publishPost({ plan, site }: PlannedPost, { machine }: ClientContext, add: (line: string) => void) {
  return publish(plan, { site, machine, onCommand: ({ shown }) => add(`$ ${shown}`), onOutput: add });
}

/** The last publication, or the one that is under way. */
export function publicationPage(c: ClientRequest, publication: PublicationRun) {
  const { subject: post } = publication;
  if (post === null) return c.redirect(WRITE_PATH, 303);
  return c.render(<PublicationPage publication={publication} post={post} />, { title: "Publish" });
}

/** Waits for the publication that is under way, and says how it ended, because its page cannot be read then. */
export async function endPublication(publication: PublicationRun, { machine }: ClientContext): Promise<void> {
  const { isRunning, subject: post } = publication;
  if (!isRunning || post === null) return;
  const { file, plan } = post;
  machine.say(`Waiting for git, which is publishing ${file} to ${plan.remote}.`);
  await publication.done;
  machine.say(publication.fault ?? `${file} is published to ${plan.remote}.`);
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
