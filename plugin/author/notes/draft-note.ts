// plugin/author/notes/draft-note.ts: the note of a draft, with its pictures.

import type { Machine } from "../machine.js";
import type { Site } from "../site.js";
import type { DraftPicture, PicturePlace } from "./draft-pictures.js";
import { linkPictures, picturesIn } from "./note-pictures.js";
import { composeNote, type Note } from "./notes.js";
import type { PostDraft, PostDrafts } from "./post-drafts.js";

/** How a draft becomes a note. */
export interface NoteChoice {
  /** Absolute. */
  folder: string;
  place: PicturePlace;
}

/** The pictures that the text of a draft shows. */
export async function shownPictures({ id, body }: Pick<PostDraft, "id" | "body">, { pictures }: PostDrafts) {
  const shown = new Set(picturesIn(body));
  return (await pictures.of(id)).filter(({ name }) => shown.has(name));
}

/** Composes the note of a draft. Pictures that its text does not show are not part of it. */
export async function composeDraft(
  draft: Pick<PostDraft, "id" | "body" | "replyTo">,
  { folder, place }: NoteChoice,
  { drafts, site, machine }: { drafts: PostDrafts; site: Site; machine: Machine },
): Promise<Note> {
  const shown = await shownPictures(draft, drafts);
  const note = { folder, body: draft.body, replyTo: draft.replyTo ?? undefined };
  if (place === "blob") return composeNote({ ...note, body: linkBlobs(draft.body, shown) }, site, machine);
  const pictures = shown.map(({ name }) => ({ name, bytes: () => drafts.pictures.bytes(draft.id, name) }));
  return composeNote({ ...note, pictures }, site, machine);
}

/** The key of a picture's blob is its hash, so it is known before the blob is stored. */
function linkBlobs(text: string, pictures: readonly DraftPicture[]): string {
  const links = new Map(pictures.map(({ name, sha256 }) => [name, `blob:${sha256}`]));
  return linkPictures(text, (name) => links.get(name));
}
