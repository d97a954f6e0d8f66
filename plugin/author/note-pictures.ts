// plugin/author/note-pictures.ts: saves pictures beside notes, without their metadata.
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { TwtxtError } from "../errors.js";
import { removeMetadata } from "../pictures/remove-metadata.js";
import { orBadFile } from "./files.js";

const MAX_PICTURES = 100;

/** A picture beside a note. */
export interface NotePicture {
  /** Absolute. */
  file: string;
  /** What shows it in the note. */
  markdown: string;
}

/**
 * Saves a picture beside a note, under the name of the note with a number. The build copies it to the page of the note.
 *
 * @param note - the file of the note, absolute; it need not exist yet
 * @param picture - `name` is that of its file, for messages; `alt` describes it for people who do not see it
 * @throws TwtxtError `bad-file` for a file that is not a picture, or cannot be written
 */
export async function saveNotePicture(
  note: string,
  { bytes, name, alt }: { bytes: Uint8Array; name: string; alt: string },
): Promise<NotePicture> {
  const picture = removeMetadata(bytes, name);
  await orBadFile(mkdir(dirname(note), { recursive: true }));
  for (let number = 1; number < MAX_PICTURES; number += 1) {
    const file = join(dirname(note), `${basename(note, ".md")}-${number}${picture.extension}`);
    if (await orBadFile(createFile(file, picture.bytes))) return { file, markdown: markdownOf(alt, basename(file)) };
  }
  throw new TwtxtError("bad-file", `${basename(note)} has ${MAX_PICTURES} pictures already.`);
}

async function createFile(file: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeFile(file, bytes, { flag: "wx" });
    return true;
  } catch (error) {
    if (Object(error).code === "EEXIST") return false;
    throw error;
  }
}

function markdownOf(alt: string, file: string): string {
  return `![${alt.replace(/\s+/g, " ").replace(/[\\[\]]/g, "\\$&")}](${file})`;
}
