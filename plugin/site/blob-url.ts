// plugin/site/blob-url.ts: how a blob is called, and where it is for everybody while it is public. PROTOCOL 4

/** A key within a text. What is neither `.` nor `..`, since those lead elsewhere in a URL. */
export const BLOB_KEY = /(?!\.{1,2}(?![\w.-]))[A-Za-z0-9._-]{1,128}/;
const WHOLE_KEY = new RegExp(`^${BLOB_KEY.source}$`);

/** Whether a text is the key of a blob. */
export function isBlobKey(text: string): boolean {
  return WHOLE_KEY.test(text);
}

/** @param sharedUrl - where blobs are shared: that of each is below it */
export function sharedUrlOf(sharedUrl: string, { owner, key }: { owner: string; key: string }): string {
  return `${sharedUrl}/${owner}/${key}`;
}
