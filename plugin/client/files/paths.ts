// plugin/client/files/paths.ts: the paths of the room of files.

export const PATH = "/files";

/** What can be done with one file. */
type FileAction = "public" | "private" | "delete" | "edit" | "picture" | "get";

/** @example toPath("get", "quinces.jpg") // "/files/get/quinces.jpg" */
export function toPath(action: FileAction, key: string): string {
  return `${PATH}/${action}/${encodeURIComponent(key)}`;
}
