// plugin/client/write/publish-pages.tsx: the pages that publish a note.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import type { Publication } from "../../author/notes/publish.js";
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

interface PublicationProps {
  /** The post, from the root of the site. */
  file: string;
  remote: string;
  /** In lines. */
  output: readonly string[];
  isRunning: boolean;
  /** Why it failed, and what to do. */
  fault: string | null;
  /** The page to try it again. */
  again: string;
  /** The post on the site. */
  url: string;
  /** How it gets online. */
  next: string;
}

/** A publication that is under way or has ended. Its parts change while the page is shown. */
export const PublicationPage: FC<PublicationProps> = ({ output, ...publication }) => (
  <>
    <div role="status">
      <div id="publication" data-live>
        <PublicationState {...publication} />
      </div>
    </div>
    <div id="output" data-live>
      <h2>Output of git</h2>
      <pre class="output">{output.join("\n")}</pre>
    </div>
    <p>
      <a href={WRITE_PATH}>Write another note</a>
    </p>
  </>
);

const PublicationState: FC<Omit<PublicationProps, "output">> = ({ isRunning, fault, again, ...published }) => {
  const { file, remote } = published;
  if (isRunning) {
    return (
      <>
        <h2>Publishing…</h2>
        <p data-busy="">
          {file} is on its way to {remote}. This can take a minute. You can leave this page: it goes on.
        </p>
        <p class="unscripted">
          <a href={PUBLICATION_PATH}>Reload</a> to see how far it is.
        </p>
      </>
    );
  }
  if (fault === null) return <Published {...published} />;
  return (
    <>
      <h2>Not published</h2>
      <Fault text={fault} />
      <a class="button" href={again}>
        Try again
      </a>
    </>
  );
};

const Published: FC<Pick<PublicationProps, "file" | "remote" | "url" | "next">> = (published) => (
  <>
    <h2>Published</h2>
    <p class="notice">
      {published.file} is published to {published.remote}.
    </p>
    <p>
      Its page: <a href={published.url}>{published.url}</a>
    </p>
    <p>{published.next}</p>
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

/** The commands that a page shows, with the earlier commits that they publish, for comparison before they are run. */
export function shownOf({ commands, earlier, remote }: Publication): string {
  return JSON.stringify([commands.map(({ shown }) => shown), earlier, remote]);
}
