// plugin/site/blob-url.ts: blob keys, and the URLs of public blobs. PROTOCOL 4

/** Matches a blob key within a text. `.` and `..` are not keys, because they have a meaning in URLs. */
export const BLOB_KEY = /(?!\.{1,2}(?![\w.-]))[A-Za-z0-9._-]{1,128}/;
const WHOLE_KEY = new RegExp(`^${BLOB_KEY.source}$`);

/** Whether a text is a valid blob key. */
export function isBlobKey(text: string): boolean {
  return WHOLE_KEY.test(text);
}

/** @param sharedUrl - the URL below which public blobs are served */
export function sharedUrlOf(sharedUrl: string, { owner, key }: { owner: string; key: string }): string {
  return `${sharedUrl}/${owner}/${key}`;
}
