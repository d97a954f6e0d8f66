// plugin/client/write/open-drafts.ts: the site and the drafts that the room shows.
import type { PicturePlace } from "../../author/notes/draft-pictures.js";
import { type PostDrafts, postDrafts } from "../../author/notes/post-drafts.js";
import { loadSite, type Site } from "../../author/site.js";
import type { ClientContext } from "../room.js";

interface OpenDrafts {
  site: Site;
  drafts: PostDrafts;
  /** Where the pictures of notes are stored; `null` for a site without blobs, which leaves no choice. */
  place: PicturePlace | null;
}

/** @throws TwtxtError `no-settings` */
export async function openDrafts({ machine, choice }: ClientContext): Promise<OpenDrafts> {
  const site = await loadSite(machine, choice.settings);
  const drafts = postDrafts(site, machine);
  const hasBlobs = site.settings.blobs !== null && site.settings.hasEndpoints;
  return { site, drafts, place: hasBlobs ? await drafts.pictures.place() : null };
}
