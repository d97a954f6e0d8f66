// plugin/client/write/composer.tsx: writes drafts, shows the twt of a draft, and saves it as a post.
import { randomUUID } from "node:crypto";
import { relative } from "node:path";
import type { Context } from "hono";
import { previewTwt } from "../../author/compose.js";
import { networkOf } from "../../author/network.js";
import { composeNote, previewNote, writeNote } from "../../author/notes.js";
import {
  checkNotesFolder,
  exampleFolder,
  foldersOfNotes,
  rememberedNotesFolder,
  rememberNotesFolder,
} from "../../author/notes-folder.js";
import { findNotified } from "../../author/notified.js";
import { type PostDrafts, postDrafts, type SavedText, versionOf } from "../../author/post-drafts.js";
import { parseReply, replyToOf } from "../../author/reply.js";
import { type Site, siteAt } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import { parseReplyTo } from "../../feed/subject.js";
import type { ClientEnv } from "../client-env.js";
import { TIMES } from "../dates.js";
import type { ClientContext } from "../room.js";
import { type OpenDraft, WritePage } from "./composer-page.js";
import { bodyOf, type FormFields, formOf } from "./form-fields.js";
import { draftPath, publishPath, WRITE_PATH } from "./paths.js";

const MOVED =
  "Another page has changed this draft since you opened it here, so your text is a draft of its own now. Compare the two under Drafts, and delete one.";

/** Saves a draft, and the post if the form asks for it. A script gets the result as JSON. */
export async function saveDraft(c: Context<ClientEnv>, context: ClientContext) {
  const form = await formOf(c);
  const { drafts } = await open(context);
  const draft = await drafts.save(textOf(form));
  const isMoved = form.id !== undefined && form.id !== draft.id;
  if (c.req.header("accept") === "application/json") {
    const text = `Draft saved at ${TIMES.format(new Date(draft.saved))}`;
    return c.json({ id: draft.id, seen: versionOf(draft), text, warning: isMoved ? MOVED : null });
  }
  if (form.next === "save") return savePost(c, { id: draft.id, form }, context);
  const path = `${draftPath(draft.id)}${form.next === "notified" ? "&notified=yes" : ""}`;
  return isMoved ? context.notices.redirect(c, path, { text: MOVED, isFailure: true }) : c.redirect(path, 303);
}

function textOf(form: FormFields): SavedText {
  return {
    id: form.id ?? "",
    body: bodyOf(form),
    replyTo: form.replyTo?.trim() || null,
    page: form.page || randomUUID(),
    edit: Number(form.edit) || 0,
    seen: form.seen ?? "",
  };
}

async function savePost(
  c: Context<ClientEnv>,
  { id, form }: { id: string; form: FormFields },
  context: ClientContext,
): Promise<Response> {
  const { notices } = context;
  try {
    const file = await saveNote(id, form, context);
    return notices.redirect(c, publishPath(file), { text: `Saved: ${file}`, isFailure: false });
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return notices.redirect(c, draftPath(id), { text: error.message, isFailure: true });
  }
}

export async function deleteDraft(c: Context<ClientEnv>, context: ClientContext) {
  const { id = "" } = await formOf(c);
  return context.notices.act(c, WRITE_PATH, async () => {
    await (await open(context)).drafts.delete(id);
    return { text: "The draft is deleted." };
  });
}

async function open({ machine, choice }: ClientContext): Promise<{ site: Site; drafts: PostDrafts }> {
  const site = await siteAt(machine, choice.settings);
  return { site, drafts: postDrafts(site, machine) };
}

export async function writePage(c: Context<ClientEnv>, context: ClientContext) {
  const { machine, choice } = context;
  const { site, drafts } = await open(context);
  const all = await drafts.list();
  const stored = all.find(({ id }) => id === c.req.query("draft"));
  const draft = stored ? { ...stored, seen: versionOf(stored) } : await newDraft(c, context);
  const folders = await foldersOf(site, context);
  const [folder = exampleFolder(site)] = folders;
  const replyTo = draft.replyTo ?? undefined;
  const { file } = previewNote(await composeNote({ folder, body: draft.body, replyTo }, site, machine), machine.now());
  const isReply = replyTo === undefined || parseReplyTo(replyTo) !== null;
  const preview = draft.body === "" || !isReply ? null : await previewTwt({ body: draft.body, replyTo }, file, site);
  const { ask } = networkOf(choice);
  const isAsked = c.req.query("notified") !== undefined;
  const notified = isAsked && preview ? await findNotified(preview.mentions, { ask, now: machine.now }) : null;
  const page = <WritePage {...{ draft, preview, notified }} drafts={all} folders={folders.map(site.shown)} />;
  return c.render(page, { title: "Write" });
}

/** A draft that is not saved yet, perhaps a reply. */
async function newDraft(c: Context<ClientEnv>, { choice }: ClientContext): Promise<OpenDraft> {
  const empty = { id: randomUUID(), body: "", replyTo: null, seen: "", saved: null };
  const source = c.req.query("reply-to");
  if (source === undefined) return empty;
  const reply = parseReply(source);
  // A page has no hash, so an answer to it is a note with its link.
  if (reply === null) return { ...empty, body: `${source}\n\n` };
  return { ...empty, replyTo: await replyToOf(reply, choice["allow-private-host"]) };
}

/** The folders for the note, the one that was chosen last first. */
async function foldersOf(site: Site, { machine }: ClientContext): Promise<string[]> {
  const remembered = await rememberedNotesFolder(site, machine);
  const folders = [...(remembered === null ? [] : [remembered]), ...foldersOfNotes(site)];
  return [...new Set(folders.length > 0 ? folders : [exampleFolder(site)])];
}

/** Writes the post, and deletes its draft. @returns the file, from the root of the site */
async function saveNote(id: string, form: FormFields, context: ClientContext): Promise<string> {
  const { machine } = context;
  const { site, drafts } = await open(context);
  const body = bodyOf(form);
  const replyTo = form.replyTo?.trim() || undefined;
  if (body === "") throw new TwtxtError("bad-usage", "The note is empty.");
  if (replyTo !== undefined && parseReplyTo(replyTo) === null) {
    throw new TwtxtError(
      "bad-usage",
      `"${replyTo}" does not name a twt. Expected one such as "abcdefg https://bob.example/twtxt.txt".`,
    );
  }
  const folder = checkNotesFolder(form.folder ?? "", site, machine);
  await rememberNotesFolder(folder, site, machine);
  const file = await writeNote(await composeNote({ folder, body, replyTo }, site, machine), machine.now());
  await drafts.delete(id);
  return relative(site.file("."), file);
}
