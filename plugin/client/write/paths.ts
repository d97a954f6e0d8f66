// plugin/client/write/paths.ts: the paths of the room.

export const WRITE_PATH = "/write";

/** @param file - the post, from the root of the site */
export function publishPath(file: string): string {
  return `${WRITE_PATH}/publish?file=${encodeURIComponent(file)}`;
}
