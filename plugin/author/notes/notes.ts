// plugin/author/notes/notes.ts: writes notes, and the pictures beside them.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { TwtxtError } from "../../errors.js";
import { isBelow } from "../../site/real-path.js";
import { badFile, createText, readText } from "../files.js";
import type { Machine } from "../machine.js";
import type { Site } from "../site.js";
import { formatPost, readPost } from "./front-matter.js";
import { linkPictures } from "./note-pictures.js";
import { freeNoteTimes, notePictureName, postName } from "./notes-folder.js";

/** A picture that is written beside a note, under the name of the note with a number. */
interface PictureToWrite {
  /** Its name in the text that was given to {@link composeNote}, such as `picture-1.jpg`. */
  name: string;
  /** Without metadata. */
  bytes(): Promise<Uint8Array>;
}

/** The content of a note that is not written yet. */
export interface Note {
  /** Absolute. */
  folder: string;
  /** Empty for a note; a post with a title has it in its file name. */
  title: string;
  /** Markdown, with the final names of its pictures. @param time - milliseconds since 1970 */
  formatBody(time: number): string;
  /** The whole file. @param time - milliseconds since 1970 */
  formatContent(time: number): string;
  pictures: readonly PictureToWrite[];
}

interface NoteParts {
  /** Absolute. */
  folder: string;
  title?: string;
  /** Tags of this post alone. */
  tags?: readonly string[];
  /** Markdown. */
  body: string;
  /** The value for the front matter, from `toReplyTo`. */
  replyTo: string | undefined;
  pictures?: readonly PictureToWrite[];
}

/** Composes a note, or with a title a post, with the tags and the layout of the site's notes. */
export async function composeNote(
  { folder, title = "", tags = [], body, replyTo, pictures = [] }: NoteParts,
  site: Site,
  machine: Machine,
): Promise<Note> {
  const like = await modelData(site, folder, machine);
  const all = [...new Set([like.tags ?? [], tags].flat())];
  const data = { ...(title !== "" && { title }), ...like, ...(all.length > 0 && { tags: all }) };
  const formatBody = (time: number) => {
    const names = new Map(pictures.map(({ name }, at) => [name, notePictureName(time, at + 1, extname(name))]));
    return linkPictures(body, (name) => names.get(name));
  };
  const formatContent = (time: number) =>
    formatPost({ date: new Date(time), ...data, ...(replyTo !== undefined && { replyTo }) }, `${formatBody(time)}\n`);
  return { folder, title, formatBody, formatContent, pictures };
}

/** Whether a template language of the site may interpret a part of a text, such as `{{`. */
export function hasTemplateCode(text: string): boolean {
  return /\{[{%#]/.test(text);
}

export const TEMPLATE_CODE_NOTE =
  'The text contains "{{", "{%" or "{#", which a template language of your site may interpret.';

/** @example parseTags("quinces, jam,") // ["quinces", "jam"] */
export function parseTags(typed: string): string[] {
  return [...new Set(typed.split(",").map((tag) => tag.trim()))].filter((tag) => tag !== "");
}

/** The file, its content and its text that {@link writeNote} would write now. */
export function previewNote(
  { folder, title, formatBody, formatContent }: Note,
  now: number,
): { file: string; content: string; body: string } {
  const [time = 0] = freeNoteTimes(folder, now);
  return { file: join(folder, postName(title, folder, time)), content: formatContent(time), body: formatBody(time) };
}

/** The tags and the layout that a note does not inherit from its folder. */
async function modelData(
  { settings: { notes }, file, shown }: Site,
  folder: string,
  machine: Machine,
): Promise<Record<string, unknown> & { tags?: readonly unknown[] }> {
  const plain = {
    ...(notes.tags.length > 0 && { tags: notes.tags }),
    ...(notes.layout !== null && { layout: notes.layout }),
  };
  const [home] = notes.folders;
  // The data of a folder does not apply to notes elsewhere.
  if (notes.like === null || home === undefined || !isBelow(file(home), folder)) return plain;
  const model = file(notes.like);
  try {
    const { tags, layout } = readPost((await readText(model)) ?? "").data;
    const own = [tags].flat().filter((tag) => notes.tags.some((shared) => shared === tag));
    return { ...(own.length > 0 && { tags: own }), ...(layout !== undefined && { layout }) };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    machine.say(`The note does not take its tags and layout from ${shown(model)}: ${error.message}`);
    return plain;
  }
}

/**
 * Writes a note into a new file, after its pictures.
 *
 * @returns the file, absolute
 * @throws TwtxtError `bad-file`
 */
export async function writeNote({ folder, title, formatContent, pictures }: Note, now: number): Promise<string> {
  for (const time of freeNoteTimes(folder, now)) {
    const file = join(folder, postName(title, folder, time));
    const written = await writePictures(pictures, folder, time);
    if (written === null) continue;
    try {
      if (await createText(file, formatContent(time))) return file;
    } catch (error) {
      await removeFiles(written);
      throw error;
    }
    await removeFiles(written);
  }
  throw new TwtxtError("bad-file", `${folder} has a note for every second of the next day.`);
}

/** @returns the files; `null` if another process has just written one of this name, and then none is left */
async function writePictures(
  pictures: readonly PictureToWrite[],
  folder: string,
  time: number,
): Promise<string[] | null> {
  const written: string[] = [];
  try {
    if (pictures.length > 0) await mkdir(folder, { recursive: true });
    for (const [at, { name, bytes }] of pictures.entries()) {
      const file = join(folder, notePictureName(time, at + 1, extname(name)));
      const content = await bytes();
      await writeFile(file, content, { flag: "wx", flush: true });
      written.push(file);
    }
    return written;
  } catch (error) {
    await removeFiles(written);
    if (Object(error).code === "EEXIST") return null;
    throw badFile(error);
  }
}

async function removeFiles(files: readonly string[]): Promise<void> {
  await Promise.all(files.map((file) => rm(file, { force: true })));
}
