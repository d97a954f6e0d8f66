// plugin/browser/conversation-copy.ts: copies of a conversation: the identity file of its key, which `eleventy-twtxt` reads, too.
import { formatIdentityFile, type IdentityFields, parseIdentityFile } from "../keys/identity-file.js";
import { encodeKey } from "../messages/browser.js";
import { guestAddress, toSecretKey } from "./guest-key.js";
import type { Conversation } from "./guest-store.js";

export function downloadCopy({ address: author, seed, created }: Conversation): void {
  const { publicKey } = toSecretKey(seed);
  const address = guestAddress({ publicKey }, author);
  const file = new Blob([formatIdentityFile({ seed, publicKey, address, created })], { type: "text/plain" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${encodeKey(publicKey).slice(0, 12)}.key`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Opens the browser's dialog for a file. @param onChosen - called with the file */
export function chooseFile(onChosen: (file: File) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    if (file) onChosen(file);
  });
  input.click();
}

/**
 * Reads a copy.
 *
 * @param author - the author's address
 * @returns `null` for anything but a copy of a conversation at the author's site
 */
export async function readCopy(file: File, author: string): Promise<IdentityFields | null> {
  try {
    const copy = parseIdentityFile(await file.text(), file.name, toSecretKey);
    return copy.address === guestAddress(copy, author) ? copy : null;
  } catch {
    return null;
  }
}
