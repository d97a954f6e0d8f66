// plugin/cli/note-name.ts: the second of a new note, and with it the name of its file.
import { readdirSync } from "node:fs";
import { TwtxtError } from "../errors.js";
import { formatTimestamp, isDateOnly } from "../feed/timestamp.js";
import { isMissing } from "./files.js";

/**
 * The name of a note's file. Without the dashes of a date, which Eleventy would cut off the page's URL.
 *
 * @example noteName(Date.parse("2026-11-20T09:30:00Z")) // "20261120-093000.md"
 */
export function noteName(time: number): string {
  return `${stem(time)}.md`;
}

/**
 * The seconds that a new note may have, the nearest first.
 *
 * Passed over is a second that another file of the folder has in its name, since no two posts share one, and midnight,
 * which reads as a date without a time.
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
    throw new TwtxtError("bad-file", `${Object(error).message}.`, { cause: error });
  }
}
