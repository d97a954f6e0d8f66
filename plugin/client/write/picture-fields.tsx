// plugin/client/write/picture-fields.tsx: the pictures of a draft in the composer, and the question before they become public.
import type { FC } from "hono/jsx";
import { sizeText } from "../../author/amounts.js";
import type { DraftPicture, PicturePlace } from "../../author/notes/draft-pictures.js";
import { findDescription, formatImage } from "../../author/notes/note-pictures.js";
import type { PostDraft } from "../../author/notes/post-drafts.js";
import { CLEANED_TYPES } from "../../pictures/remove-metadata.js";
import { Question } from "../form.js";
import { draftPath, picturePath, WRITE_PATH } from "./paths.js";

const MAX_UPLOAD_MIB = 30;
/** The most that one form may contain. */
export const MAX_UPLOAD_BYTES = MAX_UPLOAD_MIB * 2 ** 20;
/** The name of the field that describes a picture starts with it. */
export const DESCRIPTION_OF = "description-of-";

export interface PicturesProps {
  draft: Pick<PostDraft, "id" | "body">;
  pictures: readonly DraftPicture[];
  /** `null` for a site without blobs: there is no choice. */
  place: PicturePlace | null;
  /** The host of blobs. */
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
    <label for="picture">Picture (JPEG, PNG, WebP or GIF, up to {MAX_UPLOAD_MIB} MiB)</label>
    <input
      type="file"
      id="picture"
      name="picture"
      class="wide"
      accept={CLEANED_TYPES.join(",")}
      data-converted="image/heic,image/heif,image/avif,.heic,.heif"
      aria-describedby="picture-note"
    />
    <p id="picture-note" class="muted">
      Its location and all other data about how it was taken are removed.
    </p>
    <p class="description">
      <label for="description">Description, for people who do not see it</label>
      <input id="description" name="description" class="wide" autocomplete="off" />
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
        <button type="submit" name="remove" value={name} class="quiet">
          Remove <span class="visually-hidden">{name}</span>
        </button>
      </div>
    </li>
  );
};

/** Descriptions are stored in the text only. The field adds one that is missing there. */
const Description: FC<{ name: string; description: string }> = ({ name, description }) =>
  description.trim() === "" ? (
    <>
      <label for={DESCRIPTION_OF + name}>
        Description<span class="visually-hidden"> of {name}</span>, for people who do not see it
      </label>
      <input id={DESCRIPTION_OF + name} name={DESCRIPTION_OF + name} class="wide" autocomplete="off" />
      <p class="muted">It is written into the text when you save.</p>
    </>
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
  <>
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
    <Question
      action={`${WRITE_PATH}/share`}
      fields={{ id: draft.id, folder, shown: formatHashes(pictures) }}
      yes={`Make ${pictures.length === 1 ? "the picture" : "the pictures"} public and save the post`}
      back={draftPath(draft.id)}
    />
  </>
);

/** The pictures that a page shows, for comparison before they become public. */
export function formatHashes(pictures: readonly DraftPicture[]): string {
  return pictures.map(({ sha256 }) => sha256).join(" ");
}
