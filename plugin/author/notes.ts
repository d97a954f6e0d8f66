// plugin/author/notes.ts: writes notes.
import { join } from "node:path";
import { TwtxtError } from "../errors.js";
import { createText, readText } from "./files.js";
import { formatPost, readPost } from "./front-matter.js";
import type { Machine } from "./machine.js";
import { freeNoteTimes, noteName } from "./notes-folder.js";
import { isBelow, type Site } from "./site.js";

/** The content of a note that is not written yet. */
export interface Note {
  /** Absolute. */
  folder: string;
  /** The whole file. @param time - milliseconds since 1970 */
  contentAt(time: number): string;
}

/**
 * Composes a note with the tags and the layout of the site's notes.
 *
 * @param folder - absolute
 * @param body - Markdown
 * @param replyTo - the value for the front matter, of `replyToOf`
 */
export async function composeNote(
  { folder, body, replyTo }: { folder: string; body: string; replyTo: string | undefined },
  site: Site,
  machine: Machine,
): Promise<Note> {
  const like = await modelData(site, folder, machine);
  const contentAt = (time: number) =>
    formatPost({ date: new Date(time), ...like, ...(replyTo !== undefined && { replyTo }) }, `${body}\n`);
  return { folder, contentAt };
}

/** The file and the content that {@link writeNote} would write now. */
export function previewNote({ folder, contentAt }: Note, now: number): { file: string; content: string } {
  const [time = 0] = freeNoteTimes(folder, now);
  return { file: join(folder, noteName(time)), content: contentAt(time) };
}

/** The tags and the layout that a note does not inherit from its folder. */
async function modelData(
  { settings: { notes }, file, shown }: Site,
  folder: string,
  machine: Machine,
): Promise<Record<string, unknown>> {
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
 * Writes a note into a new file.
 *
 * @returns the file, absolute
 * @throws TwtxtError `bad-file`
 */
export async function writeNote({ folder, contentAt }: Note, now: number): Promise<string> {
  for (const time of freeNoteTimes(folder, now)) {
    const file = join(folder, noteName(time));
    if (await createText(file, contentAt(time))) return file;
  }
  throw new TwtxtError("bad-file", `${folder} has a note for every second of the next day.`);
}
