// plugin/client/write/write-requests.ts: what the routes of the room share: the site with its drafts, and paths.
import { postDrafts } from "../../author/notes/post-drafts.js";
import type { ClientContext } from "../notices.js";

/**
 * @returns `place`: where the pictures of notes are stored; `null` for a site without blobs, which leaves no choice
 * @throws TwtxtError `no-settings`
 */
export async function openDrafts({ machine, openSite }: ClientContext) {
  const site = await openSite();
  const drafts = postDrafts(site, machine);
  const hasBlobs = site.settings.blobs !== null && site.settings.hasEndpoints;
  return { site, drafts, place: hasBlobs ? await drafts.pictures.place() : null };
}

export const WRITE_PATH = "/write";
export const POSTS_PATH = `${WRITE_PATH}/posts`;

export function draftPath(id: string): string {
  return `${WRITE_PATH}?draft=${id}`;
}

/**
 * @param file - the post, from the root of the site
 * @param hasFollow - whether the file of followed feeds is published, too
 */
export function publishPath(file: string, hasFollow = true): string {
  return `${WRITE_PATH}/publish?file=${encodeURIComponent(file)}${hasFollow ? "" : "&follow=no"}`;
}

/** @param name - of a picture of the draft */
export function picturePath(draft: string, name: string): string {
  return `${WRITE_PATH}/picture/${draft}/${encodeURIComponent(name)}`;
}
