// plugin/blobs/client/sealed-file.ts: what a sealed blob holds: a line with the name and type of a file, then its bytes. PROTOCOL 4
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { essenceOf } from "../../http/media-type.js";
import { checkFilename, checkType } from "../metadata.js";

/** The type of a blob that is sealed. */
export const SEALED_TYPE = "application/x-saltpack";

/** @param type - as a site says it, with parameters or without */
export function isSealedType(type: string): boolean {
  return essenceOf(type) === SEALED_TYPE;
}

/** A file with what its sealed blob does not say. */
export interface SealedFile {
  filename: string;
  type: string;
  bytes: Uint8Array;
}

const FIELDS = v.looseObject({ filename: v.string(), type: v.string() });
const LF = 0x0a;
/** JSON writes a character in at most 6. */
const MAX_LINE = 2 * 255 * 6 + 64;

/** The plain text to be sealed. */
export function formatSealedFile({ filename, type, bytes }: SealedFile): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ filename, type })}\n`), bytes]);
}

/**
 * Reads what {@link formatSealedFile} has written.
 *
 * @throws TwtxtError `bad-message`
 */
export function parseSealedFile(plaintext: Uint8Array): SealedFile {
  const end = plaintext.subarray(0, MAX_LINE).indexOf(LF);
  try {
    const line = new TextDecoder("utf-8", { fatal: true }).decode(plaintext.subarray(0, Math.max(0, end)));
    const { filename, type } = v.parse(FIELDS, JSON.parse(line));
    return {
      filename: checkFilename(filename),
      type: checkType(type),
      bytes: plaintext.subarray(end + 1),
    };
  } catch (cause) {
    throw new TwtxtError("bad-message", "It does not begin with a line that names a file and its type.", { cause });
  }
}
