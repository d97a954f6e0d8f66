// plugin/client/write/composer-handlers.tsx: requests of the composer: saves, shows and deletes drafts, and saves them as posts.
import { randomUUID } from "node:crypto";
import { relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import * as v from "valibot";
import { toVersion } from "../../author/draft-version.js";
import { addLoopbackHosts, createNetwork } from "../../author/network.js";
import { findNotified, previewTwt } from "../../author/notes/compose.js";
import { pictureType } from "../../author/notes/draft-pictures.js";
import { knownNicks, listMentionable } from "../../author/notes/mentionable-feeds.js";
import {
  checkNotesFolder,
  exampleFolder,
  foldersOfNotes,
  previewNote,
  rememberedNotesFolder,
  rememberNotesFolder,
  writeNote,
} from "../../author/notes/notes.js";
import {
  composeDraft,
  type NoteChoice,
  type PostDraft,
  type SavedText,
  sharePictures,
  shownPictures,
} from "../../author/notes/post-drafts.js";
import { AnsweredTwt, answeredTwt, formatReplyTo, parseReply } from "../../author/notes/reply.js";
import type { Site } from "../../author/site.js";
import { followedFeeds } from "../../author/timeline/followed-feeds.js";
import { TwtxtError } from "../../errors.js";
import { parseReplyPage, parseReplyTo } from "../../feed/subject.js";
import { oneLine } from "../../http/one-line.js";
import { findNetwork, parseCopy } from "../../mentions/networks/parse-copy.js";
import { NETWORK_NAMES } from "../../options/syndicate.js";
import { isWeb } from "../../site/safe-markup.js";
import { type ClientRequest, type FormFields, pictureResponse, readForm } from "../client-request.js";
import type { ClientContext } from "../notices.js";
import { draftSaved, isForScript, readSave } from "../page-parts.js";
import { type OpenDraft, WritePage } from "./composer-page.js";
import { type SiteBuildRun, startBuild } from "./on-your-site.js";
import { changePictures, formatHashes, SharePage } from "./picture-fields.js";
import { draftPath, openDrafts, publishPath, WRITE_PATH } from "./write-requests.js";

const PATIENCE_MS = 3000;
const MAX_SHOWN = 200;
const EMPTY = "The note is empty.";

const MOVED =
  "Another page has changed this draft since you opened it here, so your text is a draft of its own now. Compare the two under Drafts, and delete one.";

interface ComposerParts {
  context: ClientContext;
  build: SiteBuildRun;
}

/** Saves a draft, adds or removes pictures, and saves the post if the form asks for it. A script gets the result as JSON. */
export async function saveDraft(c: ClientRequest, { context, build }: ComposerParts) {
  const form = await readForm(c);
  const text = readText(form);
  const { drafts, place } = await openDrafts(context);
  const saved = await drafts.save(text);
  const isMoved = form.id !== undefined && form.id !== saved.id;
  if (place !== null && (form.place === "beside" || form.place === "blob")) {
    await drafts.pictures.rememberPlace(form.place);
  }
  if (isForScript(c)) {
    const told = { id: saved.id, seen: toVersion(saved), warning: isMoved ? MOVED : null };
    return draftSaved(c, saved.saved, { ...told, path: draftPath(saved.id) });
  }
  const { draft, notice, cursor } = await changePictures(c, saved, drafts);
  if (draft.title === "" && draft.body === "" && text.seen === "") {
    await drafts.delete(draft.id);
    // Why its pictures were refused, if it has any.
    return refuseBlank(c, text, context, notice?.text);
  }
  const folder = form.newFolder?.trim() || (form.folder ?? "");
  if (form.next === "save" && !notice?.isFailure) return savePost(c, { draft, folder }, context);
  if (form.next === "site" && !notice?.isFailure) return showOnSite(c, { draft, folder }, { context, build });
  const notified = form.next === "notified" ? "&notified=yes" : "";
  const path = `${draftPath(draft.id)}${notified}${cursor === null ? "" : `&cursor=${cursor}`}`;
  const told = [isMoved && MOVED, notice?.text].filter(Boolean).join("\n");
  if (told !== "") {
    return context.notices.redirect(c, path, { text: told, isFailure: isMoved || notice?.isFailure === true });
  }
  return c.redirect(path, 303);
}

/** Builds the page of a draft, which the composer then shows. */
function showOnSite(c: ClientRequest, post: PostToSave, { context, build }: ComposerParts): Promise<Response> {
  const path = draftPath(post.draft.id);
  return context.notices.orRedirect(c, path, async () => {
    const { site } = await openDrafts(context);
    await startBuild({ draft: post.draft, folder: checkedFolder(post, site, context) }, build, context);
    return c.redirect(`${path}#on-your-site-title`, 303);
  });
}

/** Leads back to the page, which keeps the twt that is replied to. */
function refuseBlank(c: ClientRequest, { replyTo }: SavedText, { notices }: ClientContext, why = EMPTY): Response {
  const isKnown = replyTo !== null && isAnswerable(replyTo);
  const path = isKnown ? `${WRITE_PATH}?reply-to=${encodeURIComponent(replyTo)}` : WRITE_PATH;
  return notices.redirect(c, path, { text: why, isFailure: true });
}

function readText(form: FormFields): SavedText {
  const answered = v.safeParse(v.pipe(v.string(), v.parseJson(), AnsweredTwt), form.answered);
  return {
    id: form.id ?? "",
    body: (form.body ?? "").trim(),
    title: oneLine(form.title ?? "").trim(),
    tags: oneLine(form.tags ?? "").trim(),
    replyTo: form.replyTo?.trim() || null,
    answered: answered.success ? answered.output : null,
    ...readSave(form),
  };
}

export async function writePage(c: ClientRequest, { context, build }: ComposerParts) {
  const { machine, choice } = context;
  const { site, drafts, place } = await openDrafts(context);
  const all = await drafts.list();
  const stored = all.find(({ id }) => id === c.req.query("draft"));
  const draft = stored ? { ...stored, seen: toVersion(stored) } : await newDraft(c, site, context);
  const folders = await listFolders(site, context);
  const [folder = exampleFolder(site)] = folders;
  const note = await composeDraft(draft, { folder, place: place ?? "beside" }, { drafts, site, machine });
  const { file, content, body } = previewNote(note, machine.now());
  const replyTo = draft.replyTo ?? undefined;
  const isReply = replyTo === undefined || isAnswerable(replyTo);
  const { title } = draft;
  const preview = body === "" || !isReply ? null : await previewTwt({ title, body, replyTo }, file, site);
  const { ask } = createNetwork(choice);
  const isAsked = c.req.query("notified") !== undefined;
  const notified = isAsked && preview ? await findNotified(preview, { site, ask, now: machine.now }) : null;
  const { host } = new URL(site.settings.urls.shared);
  const pictures = { draft, place, host, pictures: await drafts.pictures.of(draft.id) };
  const people = knownNicks(await followedFeeds(site), await listMentionable(site, choice, machine));
  const page = (
    <WritePage
      {...{ draft, pictures, preview, notified, people, build }}
      file={{ name: site.shown(file), content }}
      drafts={all}
      answeredPage={describeAnsweredPage(draft.replyTo, site)}
      isReply={c.req.query("reply-to") !== undefined}
      folders={folders.map(site.shown)}
    />
  );
  return c.render(page, { title: "Write" });
}

export async function pictureFile(c: ClientRequest, context: ClientContext) {
  const { draft = "", name = "" } = c.req.param();
  const { drafts } = await openDrafts(context);
  return pictureResponse({ type: pictureType(name), body: await drafts.pictures.bytes(draft, name) });
}

/** A draft that is not saved yet, perhaps a reply. */
async function newDraft(c: ClientRequest, site: Site, { choice }: ClientContext): Promise<OpenDraft> {
  const empty = {
    id: randomUUID(),
    ...{ title: "", tags: "", body: "", seen: "" },
    ...{ replyTo: null, answered: null, saved: null },
  };
  const source = c.req.query("reply-to");
  if (source === undefined) return empty;
  const reply = parseReply(source);
  if (reply === null && !isWeb(source)) {
    throw new TwtxtError("bad-usage", `"${source.slice(0, MAX_SHOWN)}" names neither a twt nor a web page.`);
  }
  // The copy of the note answers a post on another network, whose URL may be of any form.
  const isPost = c.req.query("on") !== undefined || parseCopy(source) !== null;
  if (reply === null && isPost) return { ...empty, replyTo: source };
  // A page has no hash, so an answer to it is a note with its link. A template language of the site would interpret "{{".
  if (reply === null) return { ...empty, body: `${source.replaceAll("{", "%7B")}\n\n` };
  const hosts = addLoopbackHosts(site, choice, [reply.feedUrl]);
  if (!("hash" in reply)) return { ...empty, ...chosen(await answeredTwt(reply, hosts)) };
  // The hash is enough for a reply, so the page does not wait long for the text.
  const reading = answeredTwt(reply, hosts).then(chosen, () => null);
  const found = await Promise.race([reading, setTimeout(PATIENCE_MS, null, { ref: false })]);
  return { ...empty, ...(found ?? { replyTo: formatReplyTo(reply) }) };
}

/** Says where a reply to a page is posted; `null` for a reply to a twt, and for no reply. */
function describeAnsweredPage(replyTo: string | null, { settings }: Site): string | null {
  const page = parseReplyPage(replyTo);
  if (page === null) return null;
  const { host } = new URL(page);
  const network = findNetwork(page);
  const ifFound = parseCopy(page) !== null ? "" : ", if its server finds it there";
  return settings.syndicate?.includes(network)
    ? `After you publish it, your account on ${NETWORK_NAMES[network]} answers the post at ${host}${ifFound}.`
    : `Your answer stands on your site alone: nothing is posted at ${host}, because the option syndicate does not name "${network}".`;
}

/** Whether a note can reply to it: a twt, or a page that the build accepts. */
function isAnswerable(replyTo: string): boolean {
  return parseReplyTo(replyTo) !== null || parseReplyPage(replyTo) !== null;
}

function chosen(answered: AnsweredTwt): Pick<OpenDraft, "replyTo" | "answered"> {
  return { replyTo: answered.replyTo, answered };
}

/** The folders for the note. The one that was chosen last comes first. */
async function listFolders(site: Site, { machine }: ClientContext): Promise<string[]> {
  const remembered = await rememberedNotesFolder(site, machine);
  const folders = [...(remembered === null ? [] : [remembered]), ...foldersOfNotes(site)];
  return [...new Set(folders.length > 0 ? folders : [exampleFolder(site)])];
}

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
    const question = `${WRITE_PATH}/share?draft=${draft.id}&folder=${encodeURIComponent(folder)}`;
    if (isAsked) return c.redirect(question, 303);
    return writePost(c, draft, { folder: checked, place: "beside" }, context);
  });
}

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
  if (body === "") throw new TwtxtError("bad-usage", EMPTY);
  if (replyTo !== null && !isAnswerable(replyTo)) {
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
