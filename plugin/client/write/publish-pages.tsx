// plugin/client/write/publish-pages.tsx: the pages that publish a note.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { type Publication, whyFollow } from "../../author/publish.js";
import { Fields, Form } from "../layout.js";
import { publishPath } from "./paths.js";
import { shownOf } from "./shown-commands.js";

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
    {fault !== null && <p class="notice failure">{fault}</p>}
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
      <a href="/write">Write another note</a>
    </p>
  </>
);

/** A link, so that the page always shows the commands of the choice. */
const FollowChoice: FC<{ file: string; follow: string; hasFollow: boolean }> = ({ file, follow, hasFollow }) => (
  <div class="choice">
    <p>{whyFollow(follow)}</p>
    <p>
      {hasFollow ? "It is published with the post. " : "It is left out. "}
      <a href={publishPath(file, !hasFollow)}>{hasFollow ? "Leave it out" : "Publish it with the post"}</a>
    </p>
  </div>
);

interface PublishedProps {
  file: string;
  /** The page with the commands. */
  again: string;
  remote: string;
  output: string;
  fault: string | null;
}

export const PublishedPage: FC<PublishedProps> = ({ file, again, remote, output, fault }) => (
  <>
    {fault === null ? (
      <p class="notice">
        {file} is published to {remote}.
      </p>
    ) : (
      <p class="notice failure">{fault}</p>
    )}
    <pre class="output">{output}</pre>
    <p>
      {fault !== null && <a href={again}>Try again</a>} <a href="/write">Write another note</a>
    </p>
  </>
);
