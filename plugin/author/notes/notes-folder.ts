// plugin/author/notes/notes-folder.ts: the folder of new notes, and their file names.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { TwtxtError } from "../../errors.js";
import { formatTimestamp, isDateOnly } from "../../feed/timestamp.js";
import { findRealPath, isBelow } from "../../site/real-path.js";
import { PREVIEW_FOLDER } from "../../site/site.js";
import { badFile, dataFolder, isMissing, orBadFile } from "../files.js";
import type { Machine } from "../machine.js";
import type { Site } from "../site.js";

const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** The longest file name of a post, without its ending. */
const MAX_STEM = 80;

export interface NotesFolder {
  /** Absolute. */
  folder: string;
  /** Whether to remember it. */
  isNew: boolean;
}

/** Remembers the folder for the next note, on this machine. @throws TwtxtError `bad-file` */
export async function rememberNotesFolder(folder: string, site: Site, machine: Machine): Promise<void> {
  const file = choiceFile(site, machine);
  await orBadFile(mkdir(dirname(file), { recursive: true }));
  await orBadFile(writeFile(file, `${JSON.stringify({ folder: relative(site.file("."), folder) })}\n`));
}

/** One file per feed: a clean checkout or another copy of the site keeps the choice. */
function choiceFile({ settings }: Site, machine: Machine): string {
  const { host, pathname } = new URL(settings.feedUrl);
  const name = (host + pathname).replace(/[^A-Za-z0-9.-]/g, "+");
  return join(dataFolder(machine), "notes", `${name}.json`);
}

/** The folder that was chosen for earlier notes. @returns `null` for none, or one that no longer exists */
export async function rememberedNotesFolder(site: Site, machine: Machine): Promise<string | null> {
  try {
    const { folder } = Object(JSON.parse(await readFile(choiceFile(site, machine), "utf8")));
    const chosen = resolve(site.file("."), String(folder));
    return whyNoNotes(chosen, site) === null && existsSync(chosen) ? chosen : null;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw badFile(error);
  }
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
 * @example postName("Quinces, again!", "/site/posts", 0) // "quinces-again.md"
 */
export function postName(title: string, folder: string, time: number): string {
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
export function* freeNoteTimes(folder: string, now: number): Generator<number> {
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
