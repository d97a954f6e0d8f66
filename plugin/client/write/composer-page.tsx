// plugin/client/write/composer-page.tsx: the composer with its preview, and the list of drafts.
import type { FC } from "hono/jsx";
import { sizeText } from "../../author/amounts.js";
import { endpointText } from "../../author/mentions/sent-mentions.js";
import type { KnownNick } from "../../author/notes/complete-nick.js";
import type { Notified, TwtPreview } from "../../author/notes/compose.js";
import { TEMPLATE_CODE_NOTE } from "../../author/notes/notes.js";
import type { PostDraft } from "../../author/notes/post-drafts.js";
import { ActionButton, DraftFields, DraftState, Field, Fields, Form, Output, Submit, Time } from "../page-parts.js";
import { StrangersLink, StrangersText } from "../strangers-text.js";
import { OnYourSite, type SiteBuildRun } from "./on-your-site.js";
import { PictureFields, type PicturesProps } from "./picture-fields.js";
import { POSTS_PATH } from "./write-requests.js";

const PREVIEW_LENGTH = 80;

/** A draft on the page, perhaps one that is not saved yet. */
export interface OpenDraft extends Pick<PostDraft, "id" | "title" | "tags" | "body" | "replyTo" | "answered"> {
  /** Its version; empty before it is saved. */
  seen: string;
  /** `null` before it is saved. */
  saved: string | null;
}

interface WriteProps {
  draft: OpenDraft;
  pictures: PicturesProps;
  /** `null` for an empty note. */
  preview: TwtPreview | null;
  /** `null` if it was not asked for. */
  notified: readonly Notified[] | null;
  file: { name: string; content: string };
  drafts: readonly PostDraft[];
  build: SiteBuildRun;
  /** What happens to a reply to a page; `null` for a reply to a twt, and for no reply. */
  answeredPage: string | null;
  /** Whether the author has just chosen what to reply to. */
  isReply: boolean;
  /** The folders for the note, the proposed one first. */
  folders: readonly string[];
  people: readonly KnownNick[];
}

export const WritePage: FC<WriteProps> = (props) => {
  const { draft, pictures, preview, file, notified, drafts, isReply, answeredPage, folders, people, build } = props;
  return (
    <>
      <Form action="/write/draft" class="composer" enctype="multipart/form-data">
        <DraftFields id={draft.id} seen={draft.seen} />
        <Answered draft={draft} />
        {answeredPage !== null && draft.replyTo !== null && (
          <p>
            You reply to <StrangersLink href={draft.replyTo}>{draft.replyTo}</StrangersLink>. {answeredPage}
          </p>
        )}
        <label for="body">Your note, in Markdown. Mention people as @nick.</label>
        <textarea id="body" name="body" rows={8} data-key="n" autofocus={isReply}>
          {`\n${draft.body}`}
        </textarea>
        <DraftState saved={draft.saved} />
        <PictureFields {...pictures} />
        <RareFields {...{ draft, folders, answeredPage }} />
        <div class="actions">
          <Submit name="next" value="save" class="primary" label="Save as a post" />
          <Submit data-draft="" label="Save draft and preview" />
          <Submit name="next" value="notified" label="Who will be notified?" />
          <Submit name="next" value="site" label="Show it on your site" />
        </div>
      </Form>
      {people.length > 0 && <People people={people} />}
      {preview && <Preview preview={preview} file={file} />}
      <OnYourSite id={draft.id} seen={draft.seen} build={build} />
      {notified && <NotifiedList notified={notified} />}
      {drafts.length > 0 && <DraftList drafts={drafts} />}
      <p>
        <a href={POSTS_PATH}>Your posts</a>
      </p>
    </>
  );
};

/** The text of the twt that the note replies to, as long as the field names that twt. */
const Answered: FC<{ draft: OpenDraft }> = ({ draft: { replyTo, answered } }) =>
  answered && (
    <>
      <Fields fields={{ answered: JSON.stringify(answered) }} />
      {answered.replyTo === replyTo && (
        <figure class="answered">
          <figcaption>
            You reply to <StrangersLink href={answered.source}>{answered.name}</StrangersLink>:
          </figcaption>
          <StrangersText text={answered.text} source={answered.source} />
        </figure>
      )}
    </>
  );

/** Rarely used. Open if the note replies to a twt that the page does not show. */
const RareFields: FC<Pick<WriteProps, "draft" | "folders" | "answeredPage">> = ({ draft, folders, answeredPage }) => {
  const { title, tags, replyTo, answered } = draft;
  const isShown = answeredPage !== null || answered?.replyTo === replyTo;
  const isUsed = title !== "" || tags !== "" || (replyTo !== null && !isShown);
  return (
    <details class="rare" open={isUsed}>
      <summary>
        More<span class="muted">: title, tags, reply to a twt, folder</span>
      </summary>
      <Field name="title" label="Title" value={title}>
        A post with a title is an article: your feed has its title and its link. A note has no title, and your feed has
        its whole text.
      </Field>
      <Field name="tags" label="Tags" value={tags}>
        Separated by commas, in addition to those that all your posts have.
      </Field>
      <Field name="replyTo" label="Reply to" value={replyTo ?? ""}>
        The hash of the twt and the URL of its feed, such as <code>abcdefg https://bob.example/twtxt.txt</code>, or the
        URL of a post on Mastodon or Bluesky. The button Reply on the pages Timeline and Mentions fills it in. Leave it
        empty to start a conversation.
      </Field>
      <label for="folder">Folder</label>
      <select id="folder" name="folder">
        {folders.map((folder) => (
          <option value={folder}>{folder}</option>
        ))}
      </select>
      <Field name="newFolder" label="Another folder">
        A folder that Eleventy reads, such as {folders[0]}. If it does not exist, it is created. The next notes go
        there, too.
      </Field>
    </details>
  );
};

/** For authors without script, and the source of the script's completion. */
const People: FC<{ people: readonly KnownNick[] }> = ({ people }) => (
  <details id="people">
    <summary>People to mention</summary>
    <ul>
      {people.map(({ nick, url, written }) => (
        <li data-nick={nick} data-url={url} data-written={written}>
          <code>
            <bdi>{written}</bdi>
          </code>{" "}
          {written === `@${nick}` && <bdi class="muted">{url}</bdi>}
        </li>
      ))}
    </ul>
  </details>
);

const Preview: FC<{ preview: TwtPreview } & Pick<WriteProps, "file">> = ({ preview, file }) => {
  const { text, bytes, isCut, unknownMentions } = preview;
  return (
    <section aria-labelledby="preview">
      <h2 id="preview">In your feed</h2>
      <p class="text twt" dir="auto">
        {text.replaceAll("\u2028", "\n")}
      </p>
      <p class="muted">{sizeText(bytes)}</p>
      {isCut && <p>The text is too long for a line of a feed, so it ends early, with a link to the post.</p>}
      {unknownMentions.length > 0 && (
        <p>Not notified, because you follow no feed with this name: {unknownMentions.join(", ")}</p>
      )}
      <details>
        <summary>The file of the post</summary>
        <p>
          Saved now, it would be <code>{file.name}</code>:
        </p>
        <Output label="The file of the post" text={file.content} />
      </details>
      {preview.hasTemplateCode && <p>{TEMPLATE_CODE_NOTE}</p>}
    </section>
  );
};

const NotifiedList: FC<{ notified: readonly Notified[] }> = ({ notified }) => (
  <section aria-labelledby="notified">
    <h2 id="notified">Who will be notified</h2>
    {notified.length === 0 && <p class="muted">No one: the note has no mentions, and no links that are sent.</p>}
    <ul class="items">
      {notified.map(({ nick, url, isLink, endpoint, method, why }) => (
        <li>
          <p>
            {isLink ? "Link to " : nick !== null && `@${nick} `}
            <span class="muted">{url}</span>
          </p>
          <p>{endpoint === null ? `Not notified: ${why}` : `At ${endpointText(endpoint, method)}`}</p>
        </li>
      ))}
    </ul>
  </section>
);

const DraftList: FC<{ drafts: readonly PostDraft[] }> = ({ drafts }) => (
  <section aria-labelledby="drafts">
    <h2 id="drafts">Drafts</h2>
    <ul class="items">
      {drafts.map(({ id, title, body, saved }) => (
        <li data-item tabindex={-1} id={`draft-${id}`}>
          <p class="by">
            <a href={`/write?draft=${id}`}>
              {(title || body.split("\n")[0])?.slice(0, PREVIEW_LENGTH) || "An empty draft"}
            </a>
            <Time at={saved} />
          </p>
          <ActionButton action="/write/delete" fields={{ id }} class="quiet" label="Delete" />
        </li>
      ))}
    </ul>
  </section>
);
