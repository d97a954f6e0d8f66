// plugin/blobs/client/sealed-file.ts: the content of a sealed blob: a line with the name and type of a file, then its bytes. PROTOCOL 4
import * as v from "valibot";
import { TwtxtError } from "../../errors.js";
import { readEssence } from "../../http/respond.js";
import { checkFilename, checkType } from "../metadata.js";

export const SEALED_TYPE = "application/x-saltpack";

/** The largest sealed file, in bytes: sealing and opening need the whole file in memory. */
export const MAX_SEALED_BYTES = 256 * 2 ** 20;

/** @param type - with or without parameters */
export function isSealedType(type: string): boolean {
  return readEssence(type) === SEALED_TYPE;
}

/** A file, with the name and type that its sealed blob hides. */
export interface SealedFile {
  filename: string;
  type: string;
  bytes: Uint8Array;
}

const FIELDS = v.looseObject({ filename: v.string(), type: v.string() });
const LF = 0x0a;
/** JSON needs at most 6 characters for one. */
const MAX_LINE = 2 * 255 * 6 + 64;

/** The plain text to seal. */
export function formatSealedFile({ filename, type, bytes }: SealedFile): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ filename, type })}\n`), bytes]);
}

/** Parses the output of {@link formatSealedFile}. @throws TwtxtError `bad-message` */
export function parseSealedFile(plaintext: Uint8Array): SealedFile {
  const end = plaintext.subarray(0, MAX_LINE).indexOf(LF);
  try {
    const line = new TextDecoder("utf-8", { fatal: true }).decode(plaintext.subarray(0, Math.max(0, end)));
    const { filename, type } = v.parse(FIELDS, JSON.parse(line));
    return { filename: checkFilename(filename), type: checkType(type), bytes: plaintext.subarray(end + 1) };
  } catch (cause) {
    throw new TwtxtError("bad-message", "The sealed file does not start with a line of its name and type.", { cause });
  }
}
