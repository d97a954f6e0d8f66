// plugin/cli/notes-folder.ts: the folder of new notes: the one typed, else the one chosen before, else the site's only one.
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { TwtxtError } from "../errors.js";
import { misuse } from "./command.js";
import { dataFolder } from "./data-folder.js";
import { badFile, isMissing } from "./files.js";
import { isBelow, type Site } from "./site.js";
import type { Terminal } from "./terminal.js";

/** How many folders a question or a message lists. */
const SHOWN = 9;

/** A folder for notes. */
export interface NotesFolder {
  /** Absolute. */
  folder: string;
  /** Whether it was typed just now, and is to be remembered. */
  isNew: boolean;
}

/**
 * Chooses the folder of a new note. Asks on a terminal where the site does not show it.
 *
 * @param typed - the value of `--folder`, from the working directory
 * @returns `null` where the person breaks off the question
 * @throws TwtxtError `bad-usage` for a folder outside the site's sources, and where there is no one to ask
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
  if (!canAsk) throw inDoubt(folders, site);
  return askForFolder(folders, site, terminal);
}

/** Remembers the folder for the next note, on this machine. @throws TwtxtError `bad-file` */
export async function rememberNotesFolder(folder: string, site: Site, terminal: Terminal): Promise<void> {
  const file = choiceFile(site, terminal);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify({ folder: relative(site.file("."), folder) })}\n`);
  } catch (error) {
    throw badFile(error);
  }
}

/** One file per feed, so that a build, a clean checkout or another copy of the site keeps the choice. */
function choiceFile({ settings }: Site, terminal: Terminal): string {
  const { host, pathname } = new URL(settings.feedUrl);
  const name = (host + pathname).replace(/[^A-Za-z0-9.-]/g, "+");
  return join(dataFolder(terminal), "notes", `${name}.json`);
}

/** @returns `null` where there is none, or its folder is gone */
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
  const choices = folders.length > 0 ? folders.slice(0, SHOWN) : [exampleFolder(site)];
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

/** Eleventy makes pages only from what is below its input folder. */
function checkFolder(typed: string, site: Site, terminal: Terminal): string {
  const folder = resolve(terminal.folder, typed);
  const input = site.file(site.settings.input);
  if (isBelow(input, folder)) return folder;
  throw misuse(
    `post: the folder "${typed}" is not below ${site.shown(input)}, where Eleventy reads your site. Name one there, such as ${site.shown(exampleFolder(site))}.`,
    "post",
  );
}

function inDoubt(folders: string[], site: Site): TwtxtError {
  const where = folders.slice(0, SHOWN).map((folder) => site.shown(folder));
  const found = where.length === 0 ? "the site has no posts yet" : `there are posts in ${where.join(", ")}`;
  return misuse(
    `post: which folder is the note for? It is not clear: ${found}. Name one once, it is remembered: --folder ${where[0] ?? site.shown(exampleFolder(site))}.`,
    "post",
  );
}

function exampleFolder(site: Site): string {
  return join(site.file(site.settings.input), "notes");
}
