// plugin/client/files/file-item.tsx: one file in the grid, its actions and their paths, and the questions before some of them.
import type { FC } from "hono/jsx";
import { sizeText } from "../../author/amounts.js";
import { formatMarkdown, type ListedBlob } from "../../author/blobs/blob-site.js";
import { type BlobFields, type BlobInfo, shortKey } from "../../blobs/blob.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { oneLine } from "../../http/one-line.js";
import { readEssence } from "../../http/respond.js";
import { formatSharedUrl } from "../../site/routes.js";
import { ActionButton, Answers, Field, Form, LinkButton, Question, Sentence, Time } from "../page-parts.js";
import type { OpenedName } from "./stored-files.js";

interface ShownFile extends ListedBlob {
  /** The URL below which the site shares blobs. */
  sharedUrl: string;
  /** The name of a sealed file that was opened; `null` for all others. */
  opened: OpenedName | null;
  mayBePicture: boolean;
}

export const FileItem: FC<{ file: ShownFile }> = ({ file }) => {
  const { blob, proof, opened } = file;
  return (
    <li id={`file-${blob.key}`} class="file" data-item tabindex={-1} aria-label={chooseName(blob, opened)}>
      <Picture file={file} />
      <p class="file-name">
        <bdi>{chooseName(blob, opened)}</bdi>
      </p>
      <p class="muted">
        {sizeText(blob.size)} · {oneLine(readEssence(opened?.type ?? blob.type), 60)} ·{" "}
        {Number.isNaN(Date.parse(blob.modified)) ? "date unknown" : <Time at={blob.modified} />}
      </p>
      <p class="readers">{describeReaders(blob)}</p>
      {proof.state === "wrong" && (
        <p class="failure">
          Not as you stored it: <Sentence text={proof.why} />.
        </p>
      )}
      {proof.state === "absent" && <p class="muted">Stored without a proof. To add one, upload it again.</p>}
      <Actions file={file} />
    </li>
  );
};

export function chooseName(blob: Blob, opened: OpenedName | null = null): string {
  const name = oneLine(opened?.filename ?? blob.filename, 255);
  if (name !== "") return name;
  return isSealedType(blob.type) ? `Sealed file ${shortKey(blob.key)}` : shortKey(blob.key);
}

const Picture: FC<{ file: ShownFile }> = ({ file: { blob, opened, mayBePicture } }) => {
  const { filename, type } = opened ?? blob;
  const [, end = ""] = /\.([A-Za-z0-9]{1,5})$/.exec(filename) ?? [];
  return (
    <div class="preview">
      <span class="kind" aria-hidden="true">
        {isSealedType(type) ? "sealed" : end || oneLine(readEssence(type).split("/")[0] ?? "", 12)}
      </span>
      {mayBePicture && <img src={toPath("picture", blob.key)} alt="" loading="lazy" />}
    </div>
  );
};

function describeReaders({ isPublic, type }: BlobInfo): string {
  if (!isSealedType(type)) return isPublic ? "Public: anyone can read it" : "Private: only you can read it";
  return isPublic
    ? "Sealed and public: anyone can download it, but only the people it is sealed to can read it"
    : "Sealed and private: only you can download it, and not even your site can read it";
}

const Actions: FC<{ file: ShownFile }> = ({ file: { blob, sharedUrl, opened } }) => {
  const { key, isPublic } = blob;
  const markdown = formatMarkdown(blob, opened?.filename);
  const link = isPublic ? formatSharedUrl(sharedUrl, blob) : null;
  return (
    <>
      <div class="actions">
        <button type="button" data-copy={markdown} data-key="m" data-hint={isPublic ? undefined : PRIVATE_HINT}>
          Copy Markdown
        </button>
        {link !== null && (
          <button type="button" data-copy={link} data-key="l">
            Copy link
          </button>
        )}
        <LinkButton href={toPath("get", key)} download data-key="d" label="Download" />
      </div>
      <details>
        <summary>
          More<span class="visually-hidden"> for {chooseName(blob, opened)}</span>
        </summary>
        <div class="actions">
          {isPublic ? (
            <ActionButton action={toPath("private", key)} shortcut="p" label="Make private" />
          ) : (
            <LinkButton href={toPath("public", key)} data-key="p" label="Make public" />
          )}
          <LinkButton isQuiet href={toPath("edit", key)} data-key="e" label="Rename" />
          <LinkButton isQuiet href={toPath("delete", key)} data-key="x" label="Delete" />
        </div>
      </details>
      <details class="unscripted">
        <summary>Text to paste</summary>
        <p>
          Markdown for a post: <code>{markdown}</code>
        </p>
        <p class={link === null ? "muted" : undefined}>
          {link === null ? (
            PRIVATE_HINT
          ) : (
            <>
              Link: <code>{link}</code>
            </>
          )}
        </p>
      </details>
    </>
  );
};

const PRIVATE_HINT = "Readers get this file once you make it public.";

type Blob = Pick<BlobFields, "key" | "filename" | "type" | "size" | "isPublic">;

const Name: FC<{ blob: Blob }> = ({ blob }) => (
  <p>
    <strong>
      <bdi>{chooseName(blob)}</bdi>
    </strong>
    , {sizeText(blob.size)}, {oneLine(readEssence(blob.type), 60)}
  </p>
);

export const PublicQuestion: FC<{ blob: Blob }> = ({ blob }) => (
  <Question yes="Make it public" back={PATH}>
    <Name blob={blob} />
    <p>
      Anyone who has the link can then read this file, without asking you. If you make it private again, copies that
      others have made stay with them.
    </p>
    {isSealedType(blob.type) && <p>It is sealed: others can download it, but only its recipients can open it.</p>}
    {blob.type.startsWith("image/") && (
      <p>Photos can contain the place where they were taken, unless that was removed when they were uploaded.</p>
    )}
  </Question>
);

export const DeleteQuestion: FC<{ blob: Blob }> = ({ blob }) => (
  <Question yes="Delete it" back={PATH}>
    <Name blob={blob} />
    <p>
      Your site deletes this file at once. {blob.isPublic ? "Links to it, and posts that show it, stop working. " : ""}
      This cannot be undone.
    </p>
  </Question>
);

export const EditForm: FC<{ blob: Blob }> = ({ blob }) => (
  <>
    <Name blob={blob} />
    <Form class="composer">
      <Field name="filename" label="Name" value={blob.filename} maxlength={255} data-key="n" />
      <Field name="type" label="Media type" value={blob.type} maxlength={255} required />
      <p class="muted">The address of the file stays the same.</p>
      <Answers yes="Save" back={PATH} />
    </Form>
  </>
);

export const PATH = "/files";

type FileAction = "public" | "private" | "delete" | "edit" | "picture" | "get";

/** @example toPath("get", "quinces.jpg") // "/files/get/quinces.jpg" */
export function toPath(action: FileAction, key: string): string {
  return `${PATH}/${action}/${encodeURIComponent(key)}`;
}
