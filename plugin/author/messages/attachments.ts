// plugin/author/messages/attachments.ts: the sealed files of messages: their lines in the text, storing, receiving and opening them.
import { shortKey } from "../../blobs/blob.js";
import { parseSharedUrl, type SharedUrl } from "../../blobs/client/download.js";
import { reworded, TwtxtError } from "../../errors.js";
import { oneLine } from "../../http/one-line.js";
import { readGuestKey } from "../../keys/guest.js";
import type { MessageToSend } from "../../messages/send/send-message.js";
import { formatSharedUrl } from "../../site/routes.js";
import { sizeText } from "../amounts.js";
import { loadAuthor } from "../author.js";
import { blobSite } from "../blobs/blob-site.js";
import { checkSealedSize, fileSealer, findFile, prepareBlob, type SourceFile } from "../blobs/file-contents.js";
import { ownBlob, type ReceivedFile, receiveFile, sharedBlob } from "../blobs/received-file.js";
import { typed } from "../invocation.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import { ifBuilt, loadSite } from "../site.js";
import type { Mailbox } from "./mailbox.js";

interface Work {
  choice: OwnSiteChoice;
  machine: Machine;
  signal: AbortSignal;
}

/** A file of the author's. @param path - absolute @throws TwtxtError `bad-file`; `too-large` for one that cannot be sealed */
export async function fileToAttach(path: string): Promise<SourceFile> {
  const file = await findFile(path, path);
  checkSealedSize(file.size);
  return file;
}

/**
 * Sends a message.
 *
 * @param file - is attached; `null` for none
 * @throws TwtxtError as `storeAttachment` and `Mailbox.send`; the file is not stored then
 */
export async function sendWithFile(
  { file, ...message }: MessageToSend & { file: SourceFile | null },
  mailbox: Mailbox,
  work: Work,
  onResult: Parameters<Mailbox["send"]>[1] = () => {},
): ReturnType<Mailbox["send"]> {
  if (file === null) return mailbox.send(message, onResult);
  const stored = await storeAttachment(file, message.recipients, work);
  const text = [message.text, stored.line].filter((part) => part !== "").join("\n");
  try {
    return await mailbox.send({ ...message, text }, onResult);
  } catch (error) {
    // After `store-failed`, the message may be in the outbox.
    const isSent = !(error instanceof TwtxtError) || error.code === "store-failed";
    if (!isSent) await stored.remove();
    throw error;
  }
}

const NOT_FOR_GUESTS =
  "Guests read on your contact page, which cannot open sealed files. Share the file as a public blob, and write its URL.";

/** The largest file that the site of this folder stores, in bytes; `null` if it stores none. */
export async function attachmentLimit({ settings: file }: OwnSiteChoice, machine: Machine): Promise<number | null> {
  const site = await ifBuilt(file, loadSite(machine, file));
  const { blobs = null, hasEndpoints = false } = site?.settings ?? {};
  return hasEndpoints ? (blobs?.maxBytes ?? null) : null;
}

/**
 * Seals a file, and stores it as a shared blob, which only the recipients and the author can open.
 *
 * @returns a line that names the file in the text of the message; `remove` deletes the file again
 * @throws TwtxtError as `blobSite`, `fileSealer` and `OwnBlobs.put`; `too-large`; `bad-metadata` for the name
 */
async function storeAttachment(file: SourceFile, recipients: readonly string[], { choice, machine, signal }: Work) {
  if (recipients.some((address) => readGuestKey(address) !== null)) throw new TwtxtError("bad-usage", NOT_FOR_GUESTS);
  const site = await blobSite(choice, machine, signal);
  const sealFile = await fileSealer(recipients, site.author, choice, machine);
  const { key, contents, ...options } = await prepareBlob(file, { site, change: { isPublic: true }, sealFile });
  const { blob } = await site.blobs.put(key, contents, { ...options, isSentAnyway: false });
  return {
    line: attachmentLine({ ...file, url: formatSharedUrl(site.sharedUrl, blob) }),
    remove: () => site.blobs.delete(blob.key),
  };
}

function addAdvice({ code, message }: TwtxtError): string {
  return `${message} ${code === "not-found" ? "Ask the sender to send the file again." : "Try again later."}`;
}

/**
 * Receives a file of a message, verifies that its owner stored it, and opens it.
 *
 * @param signers - the keys of the writer of the message, `kex1...`; a file that another key has sealed is refused
 * @returns its name and its contents, in memory
 * @throws TwtxtError as `receiveFile`; `not-authentic` for a file that is sealed to other keys, or by another one
 */
export async function receiveAttachment(
  { shared }: Attachment,
  signers: readonly string[],
  { choice, machine, signal }: Work,
) {
  const { identity } = await loadAuthor(choice, machine);
  const receive = async () => {
    const source =
      shared.owner === identity.publicKey
        ? await ownBlob(shared.key, await blobSite(choice, machine, signal), machine)
        : await sharedBlob(shared, choice, machine, signal);
    const file = await receiveFile(source, { opens: true });
    return readContents(file, signers, shared.url).finally(file.draft.clear);
  };
  return receive().catch(reworded(addAdvice, "not-found", "unreachable"));
}

async function readContents(
  { draft, received: { blob }, opening: { file, why } }: ReceivedFile,
  signers: readonly string[],
  url: string,
) {
  if (why !== null) throw new TwtxtError("not-authentic", `The file stays sealed. ${why}`);
  if (file === null) return { filename: blob.filename || blob.key, bytes: await draft.bytes() };
  if (signers.includes(file.signer)) return { filename: file.filename || blob.key, bytes: file.bytes };
  throw new TwtxtError(
    "not-authentic",
    `The file was sealed by another key, ${file.signer}, than the message. Ask the sender about it. To save it anyway, type: \`${typed(`blob get ${url}`)}\``,
  );
}

export interface Attachment {
  shared: SharedUrl;
  /** The text of the link, such as `letter.pdf (48.0 KiB)`. It is a claim of the sender. */
  label: string;
}

const LINK = /^\[(?<label>(?:[^\\[\]]|\\[\\[\]])*)\]\((?<url>\S+)\)$/;
const ESCAPED = /\\([\\[\]])/g;
const MAX_LABEL = 300;

/** @example attachmentLine({ filename: "letter.pdf", size: 49_152, url: "https://a.example/f" }) // "[letter.pdf (48.0 KiB)](https://a.example/f)" */
export function attachmentLine({ filename, size, url }: { filename: string; size: number; url: string }): string {
  const label = `${oneLine(filename) || "file"} (${sizeText(size)})`;
  return `[${label.replace(/[\\[\]]/g, "\\$&")}](${url})`;
}

/**
 * Finds the files that a message names, on lines of their own: links as {@link attachmentLine} writes them, and URLs of
 * shared blobs, as `blob put` prints them.
 *
 * @returns the files, and the text without their lines
 */
export function splitAttachments(text: string): { text: string; attachments: Attachment[] } {
  const attachments: Attachment[] = [];
  const lines = text.split("\n").filter((line) => {
    const attachment = parseAttachment(line.trim());
    if (attachment) attachments.push(attachment);
    return attachment === null;
  });
  return { text: lines.join("\n").trim(), attachments };
}

function parseAttachment(line: string): Attachment | null {
  const { label = "", url = line } = LINK.exec(line)?.groups ?? {};
  const shared = /\s/.test(url) ? null : parseSharedUrl(url);
  if (shared === null) return null;
  const name = oneLine(label.replace(ESCAPED, "$1"), MAX_LABEL);
  return { shared, label: name || shortKey(shared.key) };
}
