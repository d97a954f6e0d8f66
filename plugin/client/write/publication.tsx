// plugin/client/write/publication.tsx: publishes a post by git, after a confirmation.
import type { Context } from "hono";
import { afterPush, type Publication, planPublication, publish, publishableNote } from "../../author/publish.js";
import { isBelow, siteAt } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import type { ClientEnv } from "../client-env.js";
import { formOf } from "../form-fields.js";
import type { ClientContext } from "../room.js";
import { publishPath } from "./paths.js";
import { NotPublishedPage, PublishedPage, PublishPage, shownOf } from "./publish-pages.js";

export async function publishPage(c: Context<ClientEnv>, context: ClientContext) {
  const post = { file: c.req.query("file") ?? "", hasFollow: c.req.query("follow") !== "no" };
  const plan = await planOf(post, context).catch(faultOf);
  const page = typeof plan === "string" ? { plan: null, fault: plan } : { plan, fault: null };
  return c.render(<PublishPage {...post} {...page} />, { title: "Publish" });
}

/** Runs the commands that the page has shown, and no others. */
export async function runPublication(c: Context<ClientEnv>, context: ClientContext) {
  const { file = "", follow, shown } = await formOf(c);
  const post = { file, hasFollow: follow !== "no" };
  const again = publishPath(file, post.hasFollow);
  const site = await siteAt(context.machine, context.choice.settings);
  const plan = await planOf(post, context).catch(faultOf);
  if (typeof plan === "string" || shownOf(plan) !== shown) {
    return context.notices.redirect(c, again, {
      text: "Nothing was published: the repository has changed since the page was shown. Check the commands again.",
      isFailure: true,
    });
  }
  let output = "";
  const fault = await publish(plan, {
    ...{ site, machine: context.machine, signal: context.ending },
    onCommand(command) {
      output += `$ ${command.shown}\n`;
    },
    onOutput(line) {
      output += `${line}\n`;
    },
  }).then(() => null, faultOf);
  if (fault !== null) return c.render(<NotPublishedPage {...{ again, output, fault }} />, { title: "Not published" });
  const published = { file, remote: plan.remote, output, next: afterPush(site) };
  return c.render(<PublishedPage {...published} hasRoom={context.hasRoom} />, { title: "Published" });
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
