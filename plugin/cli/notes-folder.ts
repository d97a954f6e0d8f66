// plugin/cli/notes-folder.ts: chooses the folder of a new note, and asks if the site does not show it.
import { misuse } from "../author/invocation.js";
import {
  checkNotesFolder,
  exampleFolder,
  foldersOfNotes,
  type NotesFolder,
  rememberedNotesFolder,
} from "../author/notes/notes-folder.js";
import type { Site } from "../author/site.js";
import type { TwtxtError } from "../errors.js";
import { canAsk, type Terminal } from "./terminal.js";

/** The number of folders in a question or a message. */
const MAX_SHOWN = 9;

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
  if (typed !== undefined) return { folder: checkNotesFolder(typed, site, terminal), isNew: true };
  const remembered = await rememberedNotesFolder(site, terminal);
  if (remembered !== null) return { folder: remembered, isNew: false };

  const folders = foldersOfNotes(site);
  const [only] = folders.length === 1 ? folders : [];
  if (only !== undefined && (site.settings.notes.hasAny || !canAsk(terminal))) return { folder: only, isNew: false };
  if (!canAsk(terminal)) throw unclear(folders, site);
  return askForFolder(folders, site, terminal);
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
  return { folder: chosen ?? checkNotesFolder(answer, site, terminal), isNew: true };
}

function unclear(folders: string[], site: Site): TwtxtError {
  const where = folders.slice(0, MAX_SHOWN).map((folder) => site.shown(folder));
  const found = where.length === 0 ? "the site has no posts yet" : `there are posts in ${where.join(", ")}`;
  return misuse(
    "post",
    `cannot choose a folder for the note: ${found}. Name one once, and it is remembered: --folder ${where[0] ?? site.shown(exampleFolder(site))}.`,
  );
}
