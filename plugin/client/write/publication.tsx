// plugin/client/write/publication.tsx: publishes a post by git: the commands, which the author confirms, and their output.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { formatPage } from "../../author/notes/compose.js";
import { findPostFile } from "../../author/notes/notes.js";
import { afterPush, type Publication, planPublication, publish, publishableNote } from "../../author/notes/publish.js";
import type { Site } from "../../author/site.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import type { BackgroundRun } from "../background-run.js";
import { type ClientRequest, readForm } from "../client-request.js";
import type { ClientContext } from "../notices.js";
import { ActionButton, Fault, LinkButton, Output } from "../page-parts.js";
import { publishPath, WRITE_PATH } from "./write-requests.js";

/** The last publication, which may be under way. */
const PUBLICATION_PATH = `${WRITE_PATH}/publication`;

const CHANGED = "Nothing was published: the repository has changed since the page was shown. Check the commands again.";

export async function publishPage(c: ClientRequest, context: ClientContext) {
  const post = { file: c.req.query("file") ?? "", hasFollow: c.req.query("follow") !== "no" };
  const toFault = ({ message }: TwtxtError) => ({ ...post, plan: null, fault: message });
  const page = await planPost(post, context).catch(ifTwtxtError(toFault));
  return c.render(<PublishPage {...page} />, { title: "Publish" });
}

/** Starts the commands that the page has shown, and no others. Leads to the publication, which goes on if its page is left. */
export async function runPublication(c: ClientRequest, publication: PublicationRun, context: ClientContext) {
  const { file = "", follow, shown } = await readForm(c);
  const hasFollow = follow !== "no";
  return context.notices.orRedirect(c, publishPath(file, hasFollow), async () => {
    await publication.start(async () => {
      const post = await planPost({ file, hasFollow }, context).catch(ifTwtxtError(() => null));
      if (post === null || formatShown(post.plan) !== shown) throw new TwtxtError("bad-usage", CHANGED);
      const { machine } = context;
      const results = (add: (line: string) => void) =>
        publish(post.plan, { ...post, machine, onCommand: ({ shown }) => add(`$ ${shown}`), onOutput: add });
      return { subject: post, results };
    });
    if (publication.isRunning && publication.subject?.file !== file) {
      throw new TwtxtError("bad-usage", `${file} is not published yet: another post is. Publish it after that.`);
    }
    return c.redirect(PUBLICATION_PATH, 303);
  });
}

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
async function planPost(post: PostChoice, { machine, openSite }: ClientContext): Promise<PlannedPost> {
  const site = await openSite();
  const note = await publishableNote(findPostFile(post.file, site));
  return { ...post, site, plan: await planPublication(note, { ...post, site, machine }) };
}

type PublishProps = PostChoice & { plan: Publication | null; fault?: string };

/** @param fault - why git cannot publish, and what to do */
const PublishPage: FC<PublishProps> = ({ file, hasFollow, plan, fault = null }) => (
  <>
    <p>
      The post is in <code>{file}</code>.
    </p>
    <Fault text={fault} />
    {plan && (
      <>
        {plan.follow !== null && <FollowChoice follow={plan.follow} {...{ file, hasFollow }} />}
        <p>These commands publish the post to {plan.remote}:</p>
        <Output label="Commands" text={plan.commands.map(({ shown }) => shown).join("\n")} />
        {plan.earlier.length > 0 && (
          <>
            <p>
              The push also publishes {counted(plan.earlier.length, "earlier commit")} that {plan.remote} does not have:
            </p>
            <ul>
              {plan.earlier.map((subject) => (
                <li>{subject}</li>
              ))}
            </ul>
          </>
        )}
        <ActionButton
          action="/write/publish"
          fields={{ file, follow: hasFollow ? "yes" : "no", shown: formatShown(plan) }}
          class="primary"
          label="Run these commands"
        />
      </>
    )}
    <p>
      <a href={WRITE_PATH}>Write another note</a>
    </p>
  </>
);

/** A link, so that the page always shows the commands of the choice. */
const FollowChoice: FC<{ file: string; follow: string; hasFollow: boolean }> = ({ file, follow, hasFollow }) => (
  <p>
    Your changed list of followed feeds, <code>{follow}</code>,{" "}
    {hasFollow
      ? "will be published, too, so that the build of your deploy knows whom you mention."
      : "will not be published. Until it is, the build of your deploy does not know the feeds that you have followed since, and a mention of them notifies no one."}{" "}
    <a href={publishPath(file, !hasFollow)}>{hasFollow ? "Do not include it" : "Include it"}</a>
  </p>
);

interface PostChoice {
  /** From the root of the site. */
  file: string;
  hasFollow: boolean;
}

interface PlannedPost extends PostChoice {
  plan: Publication;
  site: Site;
}

/** The last publication. Its results are the commands and the lines of their output. */
export type PublicationRun = BackgroundRun<string, PlannedPost>;

interface PublicationProps {
  publication: PublicationRun;
  post: PlannedPost;
}

/** A publication that is under way or has ended. Its parts change while the page is shown. */
const PublicationPage: FC<PublicationProps> = ({ publication, post }) => (
  <>
    <div role="status">
      <div id="publication" data-live>
        <PublicationState publication={publication} post={post} />
      </div>
    </div>
    <h2>Output of git</h2>
    <Output id="output" label="Output of git" text={publication.results.join("\n")} />
    <p>
      <a href={WRITE_PATH}>Write another note</a>
    </p>
  </>
);

const PublicationState: FC<PublicationProps> = ({ publication: { isRunning, fault }, post }) => {
  const { file, hasFollow, plan } = post;
  if (isRunning) {
    return (
      <>
        <h2>Publishing…</h2>
        <p data-busy="">
          Pushing {file} to {plan.remote}. This can take a minute, and continues if you leave this page.
        </p>
        <p class="unscripted">
          <a href={PUBLICATION_PATH}>Reload</a> to see its progress.
        </p>
      </>
    );
  }
  if (fault === null) return <Published {...post} />;
  return (
    <>
      <h2>Not published</h2>
      <Fault text={fault} />
      <LinkButton href={publishPath(file, hasFollow)} label="Try again" />
    </>
  );
};

const Published: FC<PlannedPost> = ({ file, plan: { remote }, site }) => {
  const url = formatPage(site.file(file), site);
  return (
    <>
      <h2>Published</h2>
      <p class="notice">
        {file} is published to {remote}.
      </p>
      <p>
        Its page: <a href={url}>{url}</a>
      </p>
      <p>{afterPush(site)}</p>
      <ul>
        <li>
          <a href="/health">Health</a> shows what was sent, and what failed.
        </li>
        <li>
          <a href="/mentions">Mentions</a> shows the answers that come back.
        </li>
      </ul>
    </>
  );
};

/** The commands that a page shows, with the earlier commits that they publish, for comparison before they are run. */
function formatShown({ commands, earlier, remote }: Publication): string {
  return JSON.stringify([commands.map(({ shown }) => shown), earlier, remote]);
}
