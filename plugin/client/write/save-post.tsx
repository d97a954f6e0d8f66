// plugin/client/write/save-post.tsx: saves a draft as a post, after a question if that makes pictures public.
import { relative } from "node:path";
import { composeDraft, type NoteChoice, sharePictures, shownPictures } from "../../author/notes/draft-note.js";
import { writeNote } from "../../author/notes/notes.js";
import { checkNotesFolder, rememberNotesFolder } from "../../author/notes/notes-folder.js";
import type { PostDraft } from "../../author/notes/post-drafts.js";
import type { Site } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import { parseReplyTo } from "../../feed/subject.js";
import { type ClientRequest, readForm } from "../client-request.js";
import type { ClientContext } from "../room.js";
import { openDrafts } from "./open-drafts.js";
import { draftPath, publishPath, sharePath } from "./paths.js";
import { formatHashes, SharePage } from "./picture-fields.js";

/** A draft, and the folder for its post as the form of the composer has it. */
export interface PostToSave {
  draft: PostDraft;
  folder: string;
}

/** Saves a draft as a post. If its pictures become public, leads to the question instead. */
export async function savePost(c: ClientRequest, post: PostToSave, context: ClientContext): Promise<Response> {
  const { draft, folder } = post;
  const { site, drafts, place } = await openDrafts(context);
  return context.notices.orRedirect(c, draftPath(draft.id), async () => {
    const checked = checkedFolder(post, site, context);
    const isAsked = place === "blob" && (await shownPictures(draft, drafts)).length > 0;
    if (isAsked) return c.redirect(sharePath(draft.id, folder), 303);
    return writePost(c, draft, { folder: checked, place: "beside" }, context);
  });
}

/** Asks before pictures become public. */
export async function sharePage(c: ClientRequest, context: ClientContext) {
  const { site, drafts } = await openDrafts(context);
  const draft = await drafts.find(c.req.query("draft") ?? "");
  const { host } = new URL(site.settings.urls.shared);
  const question = { draft, host, folder: c.req.query("folder") ?? "", pictures: await shownPictures(draft, drafts) };
  return c.render(<SharePage {...question} />, { title: "Public pictures" });
}

/** Makes the pictures public that the page has shown, and no others; then saves the post. */
export async function shareAndSave(c: ClientRequest, context: ClientContext) {
  const { id = "", folder = "", shown = "" } = await readForm(c);
  const { machine, choice } = context;
  const { site, drafts } = await openDrafts(context);
  const draft = await drafts.find(id);
  return context.notices.orRedirect(c, draftPath(draft.id), async () => {
    const checked = checkedFolder({ draft, folder }, site, context);
    const pictures = await shownPictures(draft, drafts);
    if (formatHashes(pictures) !== shown) {
      throw new TwtxtError("bad-usage", "Nothing became public: the draft has changed since the page was shown.");
    }
    await sharePictures({ draft: id, pictures }, { stored: drafts.pictures, choice, machine });
    return writePost(c, draft, { folder: checked, place: "blob" }, context);
  });
}

/** @returns absolute @throws TwtxtError `bad-usage` if the draft cannot become a post */
export function checkedFolder({ draft, folder }: PostToSave, site: Site, { machine }: ClientContext): string {
  const { body, replyTo } = draft;
  if (body === "") throw new TwtxtError("bad-usage", "The note is empty.");
  if (replyTo !== null && parseReplyTo(replyTo) === null) {
    throw new TwtxtError(
      "bad-usage",
      `"${replyTo}" does not name a twt. Expected one such as "abcdefg https://bob.example/twtxt.txt".`,
    );
  }
  return checkNotesFolder(folder, site, machine);
}

/** Writes the post, deletes its draft, and leads to its publication. */
async function writePost(c: ClientRequest, draft: PostDraft, choice: NoteChoice, context: ClientContext) {
  const { machine, notices } = context;
  const { site, drafts } = await openDrafts(context);
  await rememberNotesFolder(choice.folder, site, machine);
  const file = await writeNote(await composeDraft(draft, choice, { drafts, site, machine }), machine.now());
  await drafts.delete(draft.id);
  const name = relative(site.file("."), file);
  return notices.redirect(c, publishPath(name), { text: `Saved: ${name}` });
}
