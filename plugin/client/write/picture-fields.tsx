// plugin/client/write/picture-fields.tsx: the pictures of a draft: their fields in the composer, what the form changes, and the question before they become public.
import { randomUUID } from "node:crypto";
import type { FC } from "hono/jsx";
import { counted, sizeText } from "../../author/amounts.js";
import { toVersion } from "../../author/draft-version.js";
import {
  type DraftPicture,
  describePicture,
  findDescription,
  formatImage,
  insertImage,
  type PicturePlace,
  withoutPicture,
} from "../../author/notes/draft-pictures.js";
import type { PostDraft, PostDrafts } from "../../author/notes/post-drafts.js";
import type { Outcome } from "../../author/outcome.js";
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { CLEANED_TYPES } from "../../pictures/remove-metadata.js";
import { type ClientRequest, withLineFeeds } from "../client-request.js";
import { Field, Question, Submit } from "../page-parts.js";
import { draftPath, picturePath } from "./write-requests.js";

const MAX_UPLOAD_MIB = 30;
export const MAX_UPLOAD_BYTES = MAX_UPLOAD_MIB * 2 ** 20;
/** The name of the field that describes a picture starts with it. */
export const DESCRIPTION_OF = "description-of-";

export interface PicturesProps {
  draft: Pick<PostDraft, "id" | "body">;
  pictures: readonly DraftPicture[];
  /** `null` for a site without blobs: there is no choice. */
  place: PicturePlace | null;
  host: string;
}

/**
 * A part of the form of the composer. The button that adds comes before those that remove, because Enter in a field presses
 * the first button of a form.
 */
export const PictureFields: FC<PicturesProps> = ({ draft, pictures, place, host }) => (
  <details class="pictures" data-max-bytes={MAX_UPLOAD_BYTES} open={pictures.length > 0}>
    <summary>
      Pictures
      <span class="muted scripted">: choose, drop or paste them</span>
    </summary>
    <Field
      type="file"
      name="picture"
      label={`Picture (JPEG, PNG, WebP or GIF, up to ${MAX_UPLOAD_MIB} MiB)`}
      accept={CLEANED_TYPES.join(",")}
      data-converted="image/heic,image/heif,image/avif,.heic,.heif"
    >
      Its location and all other data about how it was taken are removed.
    </Field>
    <p class="description">
      <Field name="description" label="Description, for people who do not see it" />
    </p>
    <div class="actions">
      <button type="submit">Add the picture</button>
      <span class="muted" role="status" />
    </div>
    {pictures.length > 0 && (
      <ul class="items">
        {pictures.map((picture) => (
          <PictureItem draft={draft} picture={picture} />
        ))}
      </ul>
    )}
    {place !== null && <PlaceFields place={place} host={host} />}
  </details>
);

const PictureItem: FC<{ draft: PicturesProps["draft"]; picture: DraftPicture }> = ({ draft, picture }) => {
  const { name, size } = picture;
  const description = findDescription(name, draft.body);
  return (
    <li class="picture">
      <Thumbnail draft={draft.id} name={name} description={description ?? ""} />
      <div>
        <p>
          <code>{name}</code> <span class="muted">{sizeText(size)}</span>
        </p>
        {description === null ? (
          <p>
            Not in the text, so it is not part of the note. To show it: <code>{formatImage("description", name)}</code>
          </p>
        ) : (
          <Description name={name} description={description} />
        )}
        <Submit name="remove" value={name} class="quiet" label="Remove" about={name} />
      </div>
    </li>
  );
};

/** Descriptions are stored in the text only. The field adds one that is missing there. */
const Description: FC<{ name: string; description: string }> = ({ name, description }) =>
  description.trim() === "" ? (
    <Field
      name={DESCRIPTION_OF + name}
      label={
        <>
          Description<span class="visually-hidden"> of {name}</span>, for people who do not see it
        </>
      }
    >
      It is written into the text when you save.
    </Field>
  ) : (
    <p>{description}</p>
  );

const Thumbnail: FC<{ draft: string; name: string; description: string }> = ({ draft, name, description }) => (
  <img src={picturePath(draft, name)} alt={description} loading="lazy" decoding="async" />
);

const PlaceFields: FC<{ place: PicturePlace; host: string }> = ({ place, host }) => (
  <fieldset class="places">
    <legend>When the note is saved, its pictures become</legend>
    <label>
      <input type="radio" name="place" value="beside" checked={place === "beside"} /> files beside the note
    </label>
    <label>
      <input type="radio" name="place" value="blob" checked={place === "blob"} /> public blobs at {host}. You are asked
      first; until then they are only on this machine.
    </label>
  </fieldset>
);

/** Asks before pictures become public. @param folder - as the form of the composer has it */
export const SharePage: FC<Omit<PicturesProps, "place"> & { folder: string }> = ({ draft, pictures, folder, host }) => (
  <Question
    fields={{ id: draft.id, folder, shown: formatHashes(pictures) }}
    yes={`Make ${pictures.length === 1 ? "the picture" : "the pictures"} public and save the post`}
    back={draftPath(draft.id)}
  >
    <p>
      {pictures.length === 1
        ? `Saving this note stores its picture as a public blob at ${host}: anyone with the link can see it from then on,`
        : `Saving this note stores its pictures as public blobs at ${host}: anyone with the link can see them from then on,`}{" "}
      also before you publish the note.
    </p>
    <ul class="items">
      {pictures.map(({ name, size }) => (
        <li class="picture">
          <Thumbnail draft={draft.id} name={name} description={findDescription(name, draft.body) ?? ""} />
          <p>
            <code>{name}</code> <span class="muted">{sizeText(size)}</span>
          </p>
        </li>
      ))}
    </ul>
  </Question>
);

/** The pictures that a page shows, for comparison before they become public. */
export function formatHashes(pictures: readonly DraftPicture[]): string {
  return pictures.map(({ sha256 }) => sha256).join(" ");
}

const MAX_SHOWN_NAME = 80;

interface PictureChanges {
  draft: PostDraft;
  /** `null` if nothing was asked for. */
  notice: Outcome | null;
  /** The position after the last picture in the text; `null` if none was added. */
  cursor: number | null;
}

/**
 * Writes the descriptions of a form into the text of a draft; adds pictures to the draft and to its text, or removes one.
 * The notice names each refused picture.
 */
export async function changePictures(c: ClientRequest, saved: PostDraft, drafts: PostDrafts): Promise<PictureChanges> {
  const form = await c.req.formData();
  const body = described(saved.body, form);
  const draft = body === saved.body ? saved : await withText(saved, body, drafts);
  const removed = form.get("remove");
  if (typeof removed === "string") return removePicture(removed, draft, drafts);
  // A field without a file sends one without a name.
  const files = form.getAll("picture").flatMap((file) => (typeof file === "string" || file.name === "" ? [] : file));
  if (files.length === 0) return { draft, notice: null, cursor: null };
  const descriptions = form.getAll("description").map(String);
  const before = saved.body.slice(0, readCursor(form, saved.body));
  return addPictures(files, { draft, descriptions, at: described(before, form).length }, drafts);
}

/** A text with the descriptions that the form has beside its pictures. */
function described(text: string, form: FormData): string {
  const fields = [...form].filter(([field]) => field.startsWith(DESCRIPTION_OF));
  return fields.reduce(
    (described, [field, description]) =>
      describePicture(described, field.slice(DESCRIPTION_OF.length), String(description)),
    text,
  );
}

async function addPictures(
  files: readonly File[],
  { draft, descriptions, at: start }: { draft: PostDraft; descriptions: readonly string[]; at: number },
  drafts: PostDrafts,
): Promise<PictureChanges> {
  const refused: string[] = [];
  let [text, at] = [draft.body, start];
  for (const [index, file] of files.entries()) {
    const name = oneLine(file.name).slice(0, MAX_SHOWN_NAME);
    try {
      const picture = await drafts.pictures.add(draft.id, { bytes: new Uint8Array(await file.arrayBuffer()), name });
      ({ text, at } = insertImage(text, at, formatImage(descriptions[index] ?? "", picture.name)));
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      refused.push(error.message);
    }
  }
  const count = files.length - refused.length;
  const added = count > 0 && `${counted(count, "picture")} added.`;
  return {
    draft: count > 0 ? await withText(draft, text, drafts) : draft,
    notice: { text: [added, ...refused].filter(Boolean).join("\n"), isFailure: refused.length > 0 },
    cursor: count > 0 ? at : null,
  };
}

async function removePicture(name: string, draft: PostDraft, drafts: PostDrafts): Promise<PictureChanges> {
  const without = await withText(draft, withoutPicture(draft.body, name), drafts);
  await drafts.pictures.remove(draft.id, name);
  return { draft: without, notice: { text: `${oneLine(name)} is removed.` }, cursor: null };
}

/** Saves a text as the change of another page, so that the page that sent the form, if it is shown again, cannot overwrite it. */
function withText(draft: PostDraft, body: string, drafts: PostDrafts): Promise<PostDraft> {
  return drafts.save({ ...draft, body, page: randomUUID(), edit: 0, seen: toVersion(draft) });
}

/** The cursor's position in the trimmed text of the draft. Without a script, the end of the text. */
function readCursor(form: FormData, body: string): number {
  const cursor = form.get("cursor");
  if (typeof cursor !== "string" || !/^\d+$/.test(cursor)) return body.length;
  const typed = withLineFeeds(String(form.get("body") ?? ""));
  const space = typed.length - typed.trimStart().length;
  return Math.min(Math.max(Number(cursor) - space, 0), body.length);
}
