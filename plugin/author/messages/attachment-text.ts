// plugin/author/messages/attachment-text.ts: how the text of a message names a sealed file: a line with a Markdown link to a shared blob.
import { shortKey } from "../../blobs/blob.js";
import { parseSharedUrl, type SharedUrl } from "../../blobs/client/download.js";
import { oneLine } from "../../http/one-line.js";
import { sizeText } from "../amounts.js";

/** A file that a message names. */
export interface Attachment {
  shared: SharedUrl;
  /** What the message says about the file, such as `letter.pdf (48.0 KiB)`. A claim. */
  label: string;
}

const LINK = /^\[(?<label>(?:[^\\[\]]|\\[\\[\]])*)\]\((?<url>\S+)\)$/;
const ESCAPED = /\\([\\[\]])/g;
/** A name and a size. */
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
    const attachment = attachmentIn(line.trim());
    if (attachment) attachments.push(attachment);
    return attachment === null;
  });
  return { text: lines.join("\n").trim(), attachments };
}

function attachmentIn(line: string): Attachment | null {
  const { label = "", url = line } = LINK.exec(line)?.groups ?? {};
  const shared = /\s/.test(url) ? null : parseSharedUrl(url);
  if (shared === null) return null;
  const name = oneLine(label.replace(ESCAPED, "$1"), MAX_LABEL);
  return { shared, label: name || shortKey(shared.key) };
}
