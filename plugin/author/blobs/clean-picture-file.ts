// plugin/author/blobs/clean-picture-file.ts: removes metadata from a file if it is a picture.
import { open, readFile, writeFile } from "node:fs/promises";
import { fileTypeFromBuffer } from "file-type";
import { CLEANED_TYPES, removeMetadata } from "../../pictures/remove-metadata.js";
import { orBadFile } from "../files.js";
import { START_BYTES } from "./file-contents.js";

/**
 * Replaces a picture by one without location data and other metadata. Other files are not changed.
 *
 * @param name - of the file, for messages
 * @returns a sentence for a picture whose metadata cannot be removed; `null` for all others
 * @throws TwtxtError `bad-file`
 */
export async function cleanPictureFile(path: string, name: string): Promise<string | null> {
  const type = (await fileTypeFromBuffer(await orBadFile(startOf(path))))?.mime ?? "";
  if (!CLEANED_TYPES.includes(type)) {
    return type.startsWith("image/") ? `Location data of pictures of the type ${type} cannot be removed.` : null;
  }
  const { bytes } = removeMetadata(await orBadFile(readFile(path)), name);
  await orBadFile(writeFile(path, bytes));
  return null;
}

async function startOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES));
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
