// plugin/client/write/write-room.tsx: the room to write in: drafts, the twt of a note, its post file, and publishing by git.
import { relative } from "node:path";
import { type Context, Hono } from "hono";
import { previewTwt } from "../../author/compose.js";
import { readText } from "../../author/files.js";
import { readPost } from "../../author/front-matter.js";
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
import { type PostDrafts, postDrafts } from "../../author/post-drafts.js";
import { commitMessage, type Publication, planPublication, publish } from "../../author/publish.js";
import { parseReply, replyToOf } from "../../author/reply.js";
import { isBelow, type Site, siteAt } from "../../author/site.js";
import { TwtxtError } from "../../errors.js";
import { parseReplyTo } from "../../feed/subject.js";
import type { ClientEnv } from "../client-env.js";
import type { ClientContext, CreateRoom } from "../room.js";
import { shownOf } from "./shown-commands.js";
import { PublishedPage, PublishPage, WritePage } from "./write-pages.js";

const PATH = "/write";

type RoomContext = Context<ClientEnv>;

export const writeRoom: CreateRoom = (context) => {
  const { notices } = context;
  const routes = new Hono<ClientEnv>();
  routes.get("/", (c) => writePage(c, context));
  routes.post("/draft", async (c) => {
    const form = await formOf(c);
    const { drafts } = await open(context);
    const { id } = await drafts.save({
      id: form.id ?? null,
      body: bodyOf(form),
      replyTo: form.replyTo?.trim() || null,
    });
    const draft = `${PATH}?draft=${id}`;
    if (form.next !== "save") return c.redirect(form.next === "notified" ? `${draft}&notified=yes` : draft, 303);
    try {
      const file = await saveNote(id, form, context);
      return notices.redirect(c, publishPath(file), { text: `Saved: ${file}`, isFailure: false });
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      return notices.redirect(c, draft, { text: error.message, isFailure: true });
    }
  });
  routes.post("/delete", async (c) => {
    const { id = "" } = await formOf(c);
    return notices.act(c, PATH, async () => {
      await (await open(context)).drafts.delete(id);
      return { text: "The draft is deleted." };
    });
  });
  routes.get("/publish", (c) => publishPage(c, context));
  routes.post("/publish", (c) => runPublication(c, context));
  return { title: "Write", path: PATH, keys: [{ key: "n", does: "goes to the text" }], routes };
};

async function open({ machine, choice }: ClientContext): Promise<{ site: Site; drafts: PostDrafts }> {
  const site = await siteAt(machine, choice.settings);
  return { site, drafts: postDrafts(site, machine) };
}

async function writePage(c: RoomContext, context: ClientContext) {
  const { machine, choice } = context;
  const { site, drafts } = await open(context);
  const all = await drafts.list();
  const draft = all.find(({ id }) => id === c.req.query("draft")) ?? (await newDraft(c, context));
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
async function newDraft(c: RoomContext, { choice }: ClientContext) {
  const empty = { id: "", body: "", replyTo: null as string | null };
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

async function publishPage(c: RoomContext, context: ClientContext) {
  const file = c.req.query("file") ?? "";
  const plan = await planOf(file, context).catch(faultOf);
  const page = typeof plan === "string" ? { plan: null, fault: plan } : { plan, fault: null };
  return c.render(<PublishPage file={file} {...page} />, { title: "Publish" });
}

/** Runs the commands that the page has shown, and no others. */
async function runPublication(c: RoomContext, context: ClientContext) {
  const { file = "", shown } = await formOf(c);
  const { site } = await open(context);
  const plan = await planOf(file, context).catch(faultOf);
  if (typeof plan === "string" || shownOf(plan) !== shown) {
    return context.notices.redirect(c, publishPath(file), {
      text: "Nothing was published: the repository has changed since the page was shown. Check the commands again.",
      isFailure: true,
    });
  }
  let output = "";
  const fault = await publish(plan, {
    ...{ site, machine: context.machine, signal: context.ending },
    onCommand(command) {
      output += `$ ${command.shown}\n`;
    },
    onOutput(line) {
      output += `${line}\n`;
    },
  }).then(() => null, faultOf);
  return c.render(<PublishedPage {...{ file, output, fault }} remote={plan.remote} />, {
    title: fault === null ? "Published" : "Not published",
  });
}

/** @throws TwtxtError `not-found` for a file that is no post of the site; `not-published` */
async function planOf(name: string, context: ClientContext): Promise<Publication> {
  const { site } = await open(context);
  const file = site.file(name);
  if (!isBelow(site.file(site.settings.input), file) || !file.endsWith(".md")) {
    throw new TwtxtError("not-found", "There is no such post.");
  }
  const { content } = readPost((await readText(file)) ?? "");
  return planPublication({ files: [file], message: commitMessage(content) }, site, context.machine);
}

function faultOf(error: unknown): string {
  if (error instanceof TwtxtError) return error.message;
  throw error;
}

function publishPath(file: string): string {
  return `${PATH}/publish?file=${encodeURIComponent(file)}`;
}

type FormFields = Readonly<Partial<Record<string, string>>>;

async function formOf(c: RoomContext): Promise<FormFields> {
  const fields = Object.entries(await c.req.parseBody());
  return Object.fromEntries(fields.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

/** Browsers send CR LF. */
function bodyOf({ body = "" }: FormFields): string {
  return body.replace(/\r\n?/g, "\n").trim();
}
