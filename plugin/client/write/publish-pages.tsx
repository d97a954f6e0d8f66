// plugin/client/write/publish-pages.tsx: the pages that publish a note.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { pageOf } from "../../author/notes/compose.js";
import { afterPush, type Publication } from "../../author/notes/publish.js";
import type { Site } from "../../author/site.js";
import type { BackgroundRun } from "../background-run.js";
import { Fields, Form } from "../layout.js";
import { Fault } from "../sentence.js";
import { PUBLICATION_PATH, publishPath, WRITE_PATH } from "./paths.js";

interface PublishProps {
  /** The post, from the root of the site. */
  file: string;
  /** Whether the file of followed feeds is published, too. */
  hasFollow: boolean;
  plan: Publication | null;
  /** Why git cannot publish, and what to do; `null` if it can. */
  fault: string | null;
}

export const PublishPage: FC<PublishProps> = ({ file, hasFollow, plan, fault }) => (
  <>
    <p>
      The post is in <code>{file}</code>.
    </p>
    <Fault text={fault} />
    {plan && (
      <>
        {plan.follow !== null && <FollowChoice follow={plan.follow} {...{ file, hasFollow }} />}
        <p>These commands publish the post to {plan.remote}:</p>
        <pre class="output">{plan.commands.map(({ shown }) => shown).join("\n")}</pre>
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
        <Form action="/write/publish">
          <Fields fields={{ file, follow: hasFollow ? "yes" : "no", shown: shownOf(plan) }} />
          <button type="submit" class="primary">
            Run these commands
          </button>
        </Form>
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

/** A post, and the commands that publish it. */
export interface PlannedPost {
  /** From the root of the site. */
  file: string;
  /** Whether the file of followed feeds is published, too. */
  hasFollow: boolean;
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
export const PublicationPage: FC<PublicationProps> = ({ publication, post }) => (
  <>
    <div role="status">
      <div id="publication" data-live>
        <PublicationState publication={publication} post={post} />
      </div>
    </div>
    <div id="output" data-live>
      <h2>Output of git</h2>
      <pre class="output">{publication.results.join("\n")}</pre>
    </div>
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
          {file} is on its way to {plan.remote}. This can take a minute. You can leave this page: it goes on.
        </p>
        <p class="unscripted">
          <a href={PUBLICATION_PATH}>Reload</a> to see how far it is.
        </p>
      </>
    );
  }
  if (fault === null) return <Published {...post} />;
  return (
    <>
      <h2>Not published</h2>
      <Fault text={fault} />
      <a class="button" href={publishPath(file, hasFollow)}>
        Try again
      </a>
    </>
  );
};

const Published: FC<PlannedPost> = ({ file, plan: { remote }, site }) => {
  const url = pageOf(site.file(file), site);
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
export function shownOf({ commands, earlier, remote }: Publication): string {
  return JSON.stringify([commands.map(({ shown }) => shown), earlier, remote]);
}
