// plugin/client/write/write-requests.ts: what the routes of the room share: the site with its drafts, and paths.
import { postDrafts } from "../../author/notes/post-drafts.js";
import { loadSite } from "../../author/site.js";
import type { ClientContext } from "../notices.js";

/**
 * @returns `place`: where the pictures of notes are stored; `null` for a site without blobs, which leaves no choice
 * @throws TwtxtError `no-settings`
 */
export async function openDrafts({ machine, choice }: ClientContext) {
  const site = await loadSite(machine, choice.settings);
  const drafts = postDrafts(site, machine);
  const hasBlobs = site.settings.blobs !== null && site.settings.hasEndpoints;
  return { site, drafts, place: hasBlobs ? await drafts.pictures.place() : null };
}

export const WRITE_PATH = "/write";
/** The last publication, which may be under way. */
export const PUBLICATION_PATH = `${WRITE_PATH}/publication`;

export const POSTS_PATH = `${WRITE_PATH}/posts`;

/** A page that changes a post. @param file - from the root of the site */
export function postPath(action: "edit" | "delete", file: string): string {
  return `${POSTS_PATH}/${action}?file=${encodeURIComponent(file)}`;
}

/** Files of the built site, for the page of a draft. */
export const SITE_PATH = `${WRITE_PATH}/site`;

/** The page of a draft as it will be on the site. @param version - so that a browser requests each one anew */
export function builtPagePath(draft: string, version: string): string {
  return `${WRITE_PATH}/page?draft=${draft}&version=${encodeURIComponent(version)}`;
}

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

/** @param folder - as the form of the composer has it */
export function sharePath(draft: string, folder: string): string {
  return `${WRITE_PATH}/share?draft=${draft}&folder=${encodeURIComponent(folder)}`;
}
