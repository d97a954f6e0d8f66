// plugin/client/write/open-drafts.ts: the site and the drafts that the room shows.
import { postDrafts } from "../../author/notes/post-drafts.js";
import { loadSite } from "../../author/site.js";
import type { ClientContext } from "../room.js";

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
