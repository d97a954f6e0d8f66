// plugin/client/files/questions.tsx: pages that ask before a file is made public or deleted, and the form to rename one.
import type { FC } from "hono/jsx";
import { sizeText } from "../../author/amounts.js";
import type { BlobFields } from "../../blobs/blob.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { oneLine } from "../../http/one-line.js";
import { readEssence } from "../../http/respond.js";
import { Form, Question } from "../form.js";
import { chooseName } from "./file-item.js";
import { PATH, toPath } from "./paths.js";

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
  <>
    <Name blob={blob} />
    <p>
      Anyone who has the link can then read this file, without asking you. If you make it private again, copies that
      others have made stay with them.
    </p>
    {isSealedType(blob.type) && <p>It is sealed: others can download it, but only its recipients can open it.</p>}
    {blob.type.startsWith("image/") && (
      <p>Photos can contain the place where they were taken, unless that was removed when they were uploaded.</p>
    )}
    <Question action={toPath("public", blob.key)} yes="Make it public" back={PATH} />
  </>
);

export const DeleteQuestion: FC<{ blob: Blob }> = ({ blob }) => (
  <>
    <Name blob={blob} />
    <p>
      Your site deletes this file at once. {blob.isPublic ? "Links to it, and posts that show it, stop working. " : ""}
      This cannot be undone.
    </p>
    <Question action={toPath("delete", blob.key)} yes="Delete it" back={PATH} />
  </>
);

export const EditForm: FC<{ blob: Blob }> = ({ blob }) => (
  <>
    <Name blob={blob} />
    <Form action={toPath("edit", blob.key)} class="composer">
      <label for="filename">Name</label>
      <input id="filename" name="filename" class="wide" value={blob.filename} maxlength={255} data-key="n" />
      <label for="type">Media type</label>
      <input id="type" name="type" class="wide" value={blob.type} maxlength={255} required />
      <p class="muted">The address of the file stays the same.</p>
      <div class="actions">
        <button type="submit" class="primary">
          Save
        </button>
        <a class="button" href={PATH} data-key="q">
          Cancel
        </a>
      </div>
    </Form>
  </>
);
