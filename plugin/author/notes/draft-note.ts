// plugin/author/notes/draft-note.ts: the note of a draft, and its pictures: beside the note, or as public blobs.
import { extname } from "node:path";
import { TwtxtError } from "../../errors.js";
import { type BlobSite, blobSite } from "../blobs/blob-site.js";
import { contentsOfBytes } from "../blobs/file-contents.js";
import { checkFileSize } from "../blobs/prepared-blob.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import type { Site } from "../site.js";
import { type DraftPicture, type DraftPictures, type PicturePlace, pictureType } from "./draft-pictures.js";
import { findPictures, linkPictures } from "./note-pictures.js";
import { composeNote, type Note, parseTags } from "./notes.js";
import { notePictureName } from "./notes-folder.js";
import type { PostDraft, PostDrafts } from "./post-drafts.js";

/** How a draft becomes a note. */
export interface NoteChoice {
  /** Absolute. */
  folder: string;
  place: PicturePlace;
}

/** The pictures that the text of a draft shows. */
export async function shownPictures({ id, body }: Pick<PostDraft, "id" | "body">, { pictures }: PostDrafts) {
  const shown = new Set(findPictures(body));
  return (await pictures.of(id)).filter(({ name }) => shown.has(name));
}

/** Composes the note of a draft. Pictures that its text does not show are not part of it. */
export async function composeDraft(
  draft: Pick<PostDraft, "id" | "body" | "replyTo" | "title" | "tags">,
  { folder, place }: NoteChoice,
  { drafts, site, machine }: { drafts: PostDrafts; site: Site; machine: Machine },
): Promise<Note> {
  const shown = await shownPictures(draft, drafts);
  const { title, tags } = draft;
  const note = { folder, body: draft.body, title, tags: parseTags(tags), replyTo: draft.replyTo ?? undefined };
  if (place === "blob") {
    // The key of a picture's blob is its hash, so it is known before the blob is stored.
    const links = new Map(shown.map(({ name, sha256 }) => [name, `blob:${sha256}`]));
    return composeNote({ ...note, body: linkPictures(draft.body, (name) => links.get(name)) }, site, machine);
  }
  const pictures = shown.map(({ name }) => ({ name, bytes: () => drafts.pictures.bytes(draft.id, name) }));
  return composeNote({ ...note, pictures }, site, machine);
}

/**
 * Makes pictures of a draft public. Call it only after the author has confirmed them. The keys are the hashes of the pictures,
 * so another try stores nothing twice.
 *
 * @throws TwtxtError `too-large`, before anything is sent; as `blobSite` and `OwnBlobs.put`
 */
export async function sharePictures(
  { draft, pictures }: { draft: string; pictures: readonly DraftPicture[] },
  { stored, choice, machine }: { stored: DraftPictures; choice: OwnSiteChoice; machine: Machine },
): Promise<void> {
  const site = await blobSite(choice, machine);
  for (const picture of pictures) checkSize(picture, site);
  for (const [at, { name, sha256 }] of pictures.entries()) {
    const contents = contentsOfBytes(await stored.bytes(draft, name));
    const file = { type: pictureType(name), filename: notePictureName(machine.now(), at + 1, extname(name)) };
    await site.blobs.put(sha256, contents, { change: { isPublic: true }, file, isSentAnyway: false });
  }
}

function checkSize({ name, size }: DraftPicture, site: BlobSite): void {
  try {
    checkFileSize(size, { site, sealFile: null });
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    const instead = "Or choose files beside the note for its pictures.";
    throw new TwtxtError(error.code, `${name}: ${error.message} ${instead}`, { cause: error });
  }
}
