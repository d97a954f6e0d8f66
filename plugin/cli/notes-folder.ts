// plugin/cli/notes-folder.ts: the folder of new notes, and their file names.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { badFile, dataFolder, isMissing, orBadFile } from "../author/files.js";
import { misuse } from "../author/invocation.js";
import { isBelow, type Site } from "../author/site.js";
import type { TwtxtError } from "../errors.js";
import { formatTimestamp, isDateOnly } from "../feed/timestamp.js";
import type { Terminal } from "./terminal.js";

/** The number of folders in a question or a message. */
const MAX_SHOWN = 9;

/** A folder for notes. */
export interface NotesFolder {
  /** Absolute. */
  folder: string;
  /** Whether to remember it. */
  isNew: boolean;
}

/**
 * Chooses the folder of a new note: the typed one, the remembered one, or the only one of the site. Otherwise asks.
 *
 * @param typed - the value of `--folder`, from the working directory
 * @returns `null` after Ctrl-C or Ctrl-D
 * @throws TwtxtError `bad-usage` for a folder outside the site's sources, or if there is no terminal to ask on
 */
export async function chooseNotesFolder(
  site: Site,
  typed: string | undefined,
  terminal: Terminal,
): Promise<NotesFolder | null> {
  if (typed !== undefined) return { folder: checkFolder(typed, site, terminal), isNew: true };
  const remembered = await readChoice(site, terminal);
  if (remembered !== null) return { folder: remembered, isNew: false };

  const { notes } = site.settings;
  const folders = notes.folders.map((folder) => site.file(folder));
  const [only] = folders.length === 1 ? folders : [];
  const canAsk = terminal.isTerminal.stdin && terminal.isTerminal.stderr;
  if (only !== undefined && (notes.hasAny || !canAsk)) return { folder: only, isNew: false };
  if (!canAsk) throw unclear(folders, site);
  return askForFolder(folders, site, terminal);
}

/** Remembers the folder for the next note, on this machine. @throws TwtxtError `bad-file` */
export async function rememberNotesFolder(folder: string, site: Site, terminal: Terminal): Promise<void> {
  const file = choiceFile(site, terminal);
  await orBadFile(mkdir(dirname(file), { recursive: true }));
  await orBadFile(writeFile(file, `${JSON.stringify({ folder: relative(site.file("."), folder) })}\n`));
}

/** One file per feed: a clean checkout or another copy of the site keeps the choice. */
function choiceFile({ settings }: Site, terminal: Terminal): string {
  const { host, pathname } = new URL(settings.feedUrl);
  const name = (host + pathname).replace(/[^A-Za-z0-9.-]/g, "+");
  return join(dataFolder(terminal), "notes", `${name}.json`);
}

/** @returns `null` for no choice, or a folder that no longer exists */
async function readChoice(site: Site, terminal: Terminal): Promise<string | null> {
  try {
    const { folder } = Object(JSON.parse(await readFile(choiceFile(site, terminal), "utf8")));
    const chosen = resolve(site.file("."), String(folder));
    return isBelow(site.file(site.settings.input), chosen) && existsSync(chosen) ? chosen : null;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw badFile(error);
  }
}

async function askForFolder(folders: string[], site: Site, terminal: Terminal): Promise<NotesFolder | null> {
  const choices = folders.length > 0 ? folders.slice(0, MAX_SHOWN) : [exampleFolder(site)];
  const [standard = ""] = choices;
  terminal.say(
    folders.length > 0
      ? "Which folder should your notes go into? Your posts are in:"
      : "Which folder should your notes go into? Your site has no posts yet. For example:",
  );
  for (const [at, folder] of choices.entries()) terminal.say(`  ${at + 1}  ${site.shown(folder)}`);
  const typed = await terminal.ask(`Type a number or another folder [${site.shown(standard)}]: `);
  if (typed === null) return null;
  const answer = typed.trim();
  const chosen = answer === "" ? standard : choices[Number(answer) - 1];
  return { folder: chosen ?? checkFolder(answer, site, terminal), isNew: true };
}

/** Eleventy builds only what is below its input folder. */
function checkFolder(typed: string, site: Site, terminal: Terminal): string {
  const folder = resolve(terminal.folder, typed);
  const input = site.file(site.settings.input);
  if (isBelow(input, folder)) return folder;
  throw misuse(
    "post",
    `the folder "${typed}" is not below ${site.shown(input)}, where Eleventy reads your site. Choose one there, such as ${site.shown(exampleFolder(site))}.`,
  );
}

function unclear(folders: string[], site: Site): TwtxtError {
  const where = folders.slice(0, MAX_SHOWN).map((folder) => site.shown(folder));
  const found = where.length === 0 ? "the site has no posts yet" : `there are posts in ${where.join(", ")}`;
  return misuse(
    "post",
    `cannot choose a folder for the note: ${found}. Name one once, and it is remembered: --folder ${where[0] ?? site.shown(exampleFolder(site))}.`,
  );
}

function exampleFolder(site: Site): string {
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
