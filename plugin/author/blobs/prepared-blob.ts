// plugin/author/blobs/prepared-blob.ts: prepares files to be stored as blobs: key, contents, media type, and sealing.
import { buffer } from "node:stream/consumers";
import { isContentAddress } from "../../blobs/blob.js";
import type { Contents } from "../../blobs/client/client.js";
import type { MetadataChange, PutOptions } from "../../blobs/client/own-blobs.js";
import { formatSealedFile, MAX_SEALED_BYTES, SEALED_TYPE, type SealedFile } from "../../blobs/client/sealed-file.js";
import { checkFilename } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { parseKey } from "../../keys/key.js";
import { Contacts } from "../../messages/lookup/contacts.js";
import { lookupOnce } from "../../messages/lookup/lookup.js";
import { resolveRecipients } from "../../messages/lookup/recipients.js";
import { seal } from "../../messages/sealing.js";
import { sizeText } from "../amounts.js";
import { type Author, ownKeys } from "../author.js";
import { typed } from "../invocation.js";
import type { HostChoice, Machine } from "../machine.js";
import { createNetwork } from "../network.js";
import type { BlobSite } from "./blob-site.js";
import { contentsOfBytes, detectMediaType, readContents, type SourceFile } from "./file-contents.js";

/** Seals a file to the author and the recipients. */
export type SealFile = (file: SealedFile) => Uint8Array;

interface Preparation {
  site: Pick<BlobSite, "maxBytes" | "host" | "signal">;
  change: MetadataChange;
  /** `undefined` for the SHA-256 of the contents. */
  key?: string | undefined;
  /** `null` for no encryption. */
  sealFile: SealFile | null;
}

/**
 * Looks recipients up. Keys that are seen for the first time are pinned.
 *
 * @param to - the addresses of recipients besides the author
 * @throws TwtxtError as `resolveRecipients`
 */
export async function fileSealer(
  to: readonly string[],
  author: Author,
  choice: HostChoice,
  machine: Machine,
): Promise<SealFile> {
  const [sender] = await ownKeys(author, machine);
  const contacts = new Contacts(author.store, machine.now);
  const lookup = lookupOnce(createNetwork(choice).lookup);
  const resolved = to.length === 0 ? [] : await resolveRecipients(to, { lookup, contacts });
  for (const { found } of resolved) if (found) await contacts.pin(found);
  const recipients = [...resolved.map(({ key }) => parseKey(key)), sender.publicKey];
  return (file) => seal(formatSealedFile(file), { sender, recipients });
}

/**
 * Reads a file once, and seals it if asked to.
 *
 * @returns what `OwnBlobs.put` needs to store it
 * @throws TwtxtError `too-large`; `bad-metadata` for its name; `bad-usage` for the key; `bad-file`
 */
export async function prepareBlob(file: SourceFile, preparation: Preparation) {
  checkFileSize(file.size, preparation);
  const { contents, ...options } = await contentsToPut(file, preparation);
  // Sealing adds some bytes.
  checkFileSize(contents.size, preparation);
  return { key: checkedKey(preparation.key ?? contents.sha256, contents), contents, ...options };
}

async function contentsToPut(
  file: SourceFile,
  { change, sealFile, site }: Preparation,
): Promise<Pick<PutOptions, "change" | "file"> & { contents: Contents }> {
  const { filename } = file;
  if (change.filename === undefined) checkFilename(filename);
  const contents = await readContents(file, site.signal);
  const type = change.type ?? (await detectMediaType(filename, contents));
  if (!sealFile) return { contents, change, file: { type, ...(filename !== "" && { filename }) } };
  const sealed = sealFile({ filename: change.filename ?? filename, type, bytes: await buffer(contents.chunks()) });
  return { contents: contentsOfBytes(sealed), change: { ...change, type: SEALED_TYPE, filename: "" }, file: {} };
}

/**
 * Whether the site accepts a file of this size.
 *
 * @param sealFile - `null` for a file that is not sealed
 * @throws TwtxtError `too-large`
 */
export function checkFileSize(size: number, { sealFile, site }: Pick<Preparation, "sealFile" | "site">): void {
  const { maxBytes, host } = site;
  if (sealFile) checkSealedSize(size);
  if (size <= maxBytes) return;
  const needed = Math.ceil(size / 2 ** 20) + (sealFile ? 1 : 0);
  const more = `accepts it with the option blobs: { maxMegabytes: ${needed} } or more`;
  const advice =
    host === "netlify"
      ? `Netlify accepts no larger body; \`${typed("serve")}\` on your own host ${more}.`
      : `The site ${more}, once it is built and deployed.`;
  throw new TwtxtError("too-large", `It is larger than the ${sizeText(maxBytes)} that the site accepts. ${advice}`);
}

/** @throws TwtxtError `too-large` */
export function checkSealedSize(size: number): void {
  if (size <= MAX_SEALED_BYTES) return;
  throw new TwtxtError("too-large", `A file to seal must be at most ${sizeText(MAX_SEALED_BYTES)}.`);
}

/** @throws TwtxtError `bad-usage` */
function checkedKey(key: string, { sha256 }: Contents): string {
  if (!isContentAddress(key) || key === sha256) return key;
  throw new TwtxtError("bad-usage", `A key of 64 hex characters must be the SHA-256 of the file, here ${sha256}.`);
}
