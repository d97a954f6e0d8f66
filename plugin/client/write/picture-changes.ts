// plugin/client/write/picture-changes.ts: adds, removes and describes the pictures of a draft, as the form of the composer asks.
import { randomUUID } from "node:crypto";
import { counted } from "../../author/amounts.js";
import { toVersion } from "../../author/draft-version.js";
import { describePicture, formatImage, insertImage, withoutPicture } from "../../author/notes/note-pictures.js";
import type { PostDraft, PostDrafts } from "../../author/notes/post-drafts.js";
import type { Outcome } from "../../author/outcome.js";
import { TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { type ClientRequest, withLineFeeds } from "../client-request.js";
import { DESCRIPTION_OF } from "./picture-fields.js";

const MAX_SHOWN_NAME = 80;

interface PictureChanges {
  /** With its new text. */
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
