// plugin/author/notes/shared-pictures.ts: stores the pictures of a note as public blobs.
import { extname } from "node:path";
import { TwtxtError } from "../../errors.js";
import { type BlobSite, blobSite } from "../blobs/blob-site.js";
import { contentsOfBytes } from "../blobs/file-contents.js";
import { checkFileSize } from "../blobs/prepared-blob.js";
import type { OwnSiteChoice } from "../choice.js";
import type { Machine } from "../machine.js";
import { type DraftPicture, type DraftPictures, pictureType } from "./draft-pictures.js";
import { notePictureName } from "./notes-folder.js";

/**
 * Makes pictures of a draft public. Call it only after the author has confirmed them. The keys are the hashes of the pictures,
 * so another try stores nothing twice.
 *
 * @throws TwtxtError `too-large`, before anything is sent; as `blobSite` and `OwnBlobs.put`
 */
export async function sharePictures(
  { draft, pictures }: { draft: string; pictures: readonly DraftPicture[] },
  { stored, choice, machine }: { stored: DraftPictures; choice: OwnSiteChoice; machine: Machine },
): Promise<void> {
  const site = await blobSite(choice, machine);
  for (const picture of pictures) checkSize(picture, site);
  for (const [at, { name, sha256 }] of pictures.entries()) {
    const contents = contentsOfBytes(await stored.bytes(draft, name));
    const file = { type: pictureType(name), filename: notePictureName(machine.now(), at + 1, extname(name)) };
    await site.blobs.put(sha256, contents, { change: { isPublic: true }, file, isSentAnyway: false });
  }
}

function checkSize({ name, size }: DraftPicture, site: BlobSite): void {
  try {
    checkFileSize(size, { site, sealFile: null });
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    const instead = "Or choose files beside the note for its pictures.";
    throw new TwtxtError(error.code, `${name}: ${error.message} ${instead}`, { cause: error });
  }
}
