// plugin/client/write/publish-pages.tsx: the pages that publish a note.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { type Publication, whyFollow } from "../../author/publish.js";
import { Fault } from "../fault.js";
import { Fields, Form } from "../layout.js";
import { publishPath, WRITE_PATH } from "./paths.js";

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
        <p>These commands publish it to {plan.remote}:</p>
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
  <>
    <p>{whyFollow(follow)}</p>
    <p>
      {hasFollow ? "It is published with the post. " : "It is left out. "}
      <a href={publishPath(file, !hasFollow)}>{hasFollow ? "Leave it out" : "Publish it with the post"}</a>
    </p>
  </>
);

interface PublishedProps {
  file: string;
  remote: string;
  output: string;
  /** How it gets online. */
  next: string;
  hasRoom(path: string): boolean;
}

export const PublishedPage: FC<PublishedProps> = ({ file, remote, output, next, hasRoom }) => (
  <>
    <p class="notice">
      {file} is published to {remote}.
    </p>
    <p>{next}</p>
    <ul>
      {hasRoom("/health") && (
        <li>
          <a href="/health">Health</a> shows what was sent, and what failed.
        </li>
      )}
      {hasRoom("/mentions") && (
        <li>
          <a href="/mentions">Mentions</a> shows the answers that come back.
        </li>
      )}
      <li>
        <a href={WRITE_PATH}>Write another note</a>
      </li>
    </ul>
    <GitOutput output={output} />
  </>
);

export const NotPublishedPage: FC<{ again: string; output: string; fault: string }> = ({ again, output, fault }) => (
  <>
    <Fault text={fault} />
    <GitOutput output={output} />
    <p class="actions">
      <a class="button" href={again}>
        Try again
      </a>
      <a href={WRITE_PATH}>Write another note</a>
    </p>
  </>
);

const GitOutput: FC<{ output: string }> = ({ output }) => (
  <section aria-labelledby="output">
    <h2 id="output">Output of git</h2>
    <pre class="output">{output}</pre>
  </section>
);

/** The commands that a page shows, with the earlier commits that they publish, for comparison before they are run. */
export function shownOf({ commands, earlier, remote }: Publication): string {
  return JSON.stringify([commands.map(({ shown }) => shown), earlier, remote]);
}
