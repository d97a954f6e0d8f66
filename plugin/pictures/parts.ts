// plugin/pictures/parts.ts: the parts of a picture file.
import { TwtxtError } from "../errors.js";

/** The parts that a file keeps, in order. */
export type PictureParts = readonly Uint8Array[];

export function hasAscii(bytes: Uint8Array, at: number, text: string): boolean {
  return (
    bytes.length >= at + text.length && [...text].every((character, i) => bytes[at + i] === character.charCodeAt(0))
  );
}

/** The error of a file that ends early, or is not in the format that its first bytes announce. */
export function damaged(): TwtxtError {
  return new TwtxtError(
    "bad-file",
    "is damaged or incomplete. Open it in a picture editor, save it again, then add it.",
  );
}
