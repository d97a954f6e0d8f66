// plugin/author/notes/notes-folder.ts: the folder of new notes, and their file names.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { formatTimestamp, isDateOnly } from "../../feed/timestamp.js";
import { badFile, dataFolder, isMissing, orBadFile } from "../files.js";
import { misuse } from "../invocation.js";
import type { Machine } from "../machine.js";
import { isBelow, type Site } from "../site.js";

/** A folder for notes. */
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
    return isBelow(site.file(site.settings.input), chosen) && existsSync(chosen) ? chosen : null;
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
 * @throws TwtxtError `bad-usage` for a folder that is not below the input folder: Eleventy would not build it
 */
export function checkNotesFolder(typed: string, site: Site, machine: Machine): string {
  const folder = resolve(machine.folder, typed);
  const input = site.file(site.settings.input);
  if (isBelow(input, folder)) return folder;
  throw misuse(
    "post",
    `the folder "${typed}" is not below ${site.shown(input)}, where Eleventy reads your site. Choose one there, such as ${site.shown(exampleFolder(site))}.`,
  );
}

/** A folder that does not have to exist. */
export function exampleFolder(site: Site): string {
  return join(site.file(site.settings.input), "notes");
}

/**
 * The file name of a note, with a date without dashes: Eleventy would remove a date with dashes from the URL of the page.
 *
 * @example noteName(Date.parse("2026-11-20T09:30:00Z")) // "20261120-093000.md"
 */
export function noteName(time: number): string {
  return `${stem(time)}.md`;
}

/**
 * The file name of a picture beside a note.
 *
 * @param extension - such as `.jpg`
 * @example notePictureName(Date.parse("2026-11-20T09:30:00Z"), 1, ".jpg") // "20261120-093000-1.jpg"
 */
export function notePictureName(time: number, number: number, extension: string): string {
  return `${stem(time)}-${number}${extension}`;
}

/**
 * The possible times of a new note, in milliseconds, the earliest first. Skips seconds in the names of other files, because
 * no two posts may share one, and midnight, which means a date without a time.
 */
export function* freeNoteTimes(folder: string, now: number): Generator<number> {
  const names = namesIn(folder);
  const start = Math.floor(now / 1000) * 1000;
  for (let time = start; time < start + 86_400_000; time += 1000) {
    if (!names.some((name) => name.includes(stem(time))) && !isDateOnly(time)) yield time;
  }
}

function stem(time: number): string {
  return formatTimestamp(time).replace(/[:Z-]/g, "").replace("T", "-");
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw badFile(error);
  }
}
