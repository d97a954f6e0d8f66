// plugin/client/messages/paths.ts: the paths of the room of messages.

export const MESSAGES = "/messages";
export const UNVERIFIED = `${MESSAGES}/unverified`;
export const OUTBOX = `${MESSAGES}/outbox`;

export function conversationPath(address: string): string {
  return `${MESSAGES}/with/${encodeURIComponent(address)}`;
}

/** Saves the draft to an address. */
export function draftPath(address: string): string {
  return `${MESSAGES}/draft/${encodeURIComponent(address)}`;
}

/** A file of a message. @param number - from 0 */
export function filePath(id: string, number: number): string {
  return `${MESSAGES}/file/${id}/${number}`;
}

export function keyPath(address: string): string {
  return `${MESSAGES}/key/${encodeURIComponent(address)}`;
}
