// plugin/author/notes/notes.ts: writes notes and the pictures beside them; their folder and file names.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative, resolve, sep } from "node:path";
import * as v from "valibot";
import { badFile, isMissing, TwtxtError } from "../../errors.js";
import { formatTimestamp, isDateOnly } from "../../feed/timestamp.js";
import { findRealPath, isBelow } from "../../site/real-path.js";
import { PREVIEW_FOLDER } from "../../site/site.js";
import { dataFolder, readRemembered, readText, writeRemembered } from "../files.js";
import type { Machine } from "../machine.js";
import type { Site } from "../site.js";
import { folderName } from "../site-store.js";
import { linkPictures } from "./draft-pictures.js";
import { formatPost, readPost } from "./front-matter.js";

/** A picture that is written beside a note, under the name of the note with a number. */
interface PictureToWrite {
  /** Its name in the text that was given to {@link composeNote}, such as `picture-1.jpg`. */
  name: string;
  /** Without metadata. */
  bytes(): Promise<Uint8Array>;
}

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
  tags?: readonly string[];
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
export function previewNote({ folder, title, formatBody, formatContent }: Note, now: number) {
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
    const written: string[] = [];
    const write = async (name: string, content: string | Uint8Array) => {
      const file = join(folder, name);
      await writeFile(file, content, { flag: "wx", flush: true });
      written.push(file);
      return file;
    };
    try {
      await mkdir(folder, { recursive: true });
      for (const [at, { name, bytes }] of pictures.entries()) {
        await write(notePictureName(time, at + 1, extname(name)), await bytes());
      }
      return await write(postName(title, folder, time), formatContent(time));
    } catch (error) {
      await Promise.all(written.map((file) => rm(file, { force: true })));
      // Another process has just written a file of this name, so the next second is tried.
      if (Object(error).code !== "EEXIST" || Object(error).syscall !== "open") throw badFile(error);
    }
  }
  throw new TwtxtError("bad-file", `${folder} has a note for every second of the next day.`);
}

const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

const MAX_STEM = 80;

const RememberedFolder = v.object({ folder: v.string() });

/** Remembers the folder for the next note, on this machine. @throws TwtxtError `bad-file` */
export async function rememberNotesFolder(folder: string, site: Site, machine: Machine): Promise<void> {
  await writeRemembered(choiceFile(site, machine), { folder: relative(site.file("."), folder) });
}

/** One file per feed: a clean checkout or another copy of the site keeps the choice. */
function choiceFile({ settings }: Site, machine: Machine): string {
  return join(dataFolder(machine), "notes", `${folderName(settings.feedUrl)}.json`);
}

/** The folder that was chosen for earlier notes. @returns `null` for none, or one that no longer exists */
export async function rememberedNotesFolder(site: Site, machine: Machine): Promise<string | null> {
  const remembered = await readRemembered(choiceFile(site, machine), RememberedFolder);
  const chosen = remembered && resolve(site.file("."), remembered.folder);
  return chosen !== null && whyNoNotes(chosen, site) === null && existsSync(chosen) ? chosen : null;
}

/** The folders of the site's notes and posts, absolute. */
export function foldersOfNotes({ settings, file }: Site): string[] {
  return settings.notes.folders.map(file);
}

/**
 * @param typed - from the working directory
 * @throws TwtxtError `bad-usage` for a folder that cannot have notes
 */
export function checkNotesFolder(typed: string, site: Site, machine: Machine): string {
  const folder = resolve(machine.folder, typed);
  const why = whyNoNotes(folder, site);
  if (why === null) return folder;
  throw new TwtxtError(
    "bad-usage",
    `The folder ${JSON.stringify(typed)} ${why} Choose another, such as ${site.shown(exampleFolder(site))}.`,
  );
}

/**
 * Why a folder cannot have notes: Eleventy does not build it, or it belongs to other programs.
 *
 * @param folder - absolute
 * @returns the end of a sentence about the folder; `null` for a folder that can have notes
 */
export function whyNoNotes(folder: string, site: Site): string | null {
  if (CONTROL.test(folder)) return "must not contain control characters.";
  const input = site.file(site.settings.input);
  if (!isBelow(input, folder)) return `is not below ${site.shown(input)}, where Eleventy reads your site.`;
  return whyNotWritten(folder, site);
}

/** The same for the place of a file or folder, behind symbolic links. */
function whyNotWritten(path: string, { settings, file }: Site): string | null {
  const root = findRealPath(file("."));
  const real = findRealPath(path);
  if (root === null || real === null || !isBelow(root, real)) return "is a link to a place outside of this project.";
  const output = findRealPath(resolve(file("."), settings.output));
  if (output !== null && output !== root && isBelow(output, real)) return "is in the folder of the built site.";
  const parts = relative(root, real).split(sep);
  const isOfOthers = (part: string, at: number) =>
    part.startsWith(".") || part === "node_modules" || (at === 0 && part === PREVIEW_FOLDER);
  const other = parts.find(isOfOthers);
  return other === undefined ? null : `is in ${other}, which belongs to other programs.`;
}

/**
 * @param name - of the file of a post, from the root of the site
 * @returns absolute
 * @throws TwtxtError `not-found` for a file that cannot be a post of the site
 */
export function findPostFile(name: string, site: Site): string {
  const file = resolve(site.file("."), name);
  const whyNot = whyNoNotes(dirname(file), site) ?? whyNotWritten(file, site);
  if (file.endsWith(".md") && !CONTROL.test(file) && whyNot === null) return file;
  throw new TwtxtError("not-found", "There is no such post.");
}

/** A folder that does not have to exist. */
export function exampleFolder(site: Site): string {
  return join(site.file(site.settings.input), "notes");
}

/**
 * The file name of a new post: its title, with a number if there is such a file, or its time if it has no title.
 *
 * @param folder - absolute
 * @param time - milliseconds since 1970
 * @example "quinces-again.md" for the title "Quinces, again!", unless there is one
 */
function postName(title: string, folder: string, time: number): string {
  const words =
    title
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const stem = words.join("-").slice(0, MAX_STEM).replace(/-$/, "");
  if (stem === "") return `${formatTime(time)}.md`;
  const names = new Set(listNames(folder));
  let name = `${stem}.md`;
  for (let number = 2; names.has(name); number += 1) name = `${stem}-${number}.md`;
  return name;
}

/**
 * The file name of a picture beside a note.
 *
 * @param extension - such as `.jpg`
 * @example notePictureName(Date.parse("2026-11-20T09:30:00Z"), 1, ".jpg") // "20261120-093000-1.jpg"
 */
export function notePictureName(time: number, number: number, extension: string): string {
  return `${formatTime(time)}-${number}${extension}`;
}

/**
 * The possible times of a new note, in milliseconds, the earliest first. Skips seconds in the names of other files, because
 * no two posts may share one, and midnight, which means a date without a time.
 */
function* freeNoteTimes(folder: string, now: number): Generator<number> {
  const names = listNames(folder);
  const start = Math.floor(now / 1000) * 1000;
  for (let time = start; time < start + 86_400_000; time += 1000) {
    if (!names.some((name) => name.includes(formatTime(time))) && !isDateOnly(time)) yield time;
  }
}

/** A date without dashes: Eleventy would remove a date with dashes from the URL of the page. */
function formatTime(time: number): string {
  return formatTimestamp(time).replace(/[:Z-]/g, "").replace("T", "-");
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw badFile(error);
  }
}
