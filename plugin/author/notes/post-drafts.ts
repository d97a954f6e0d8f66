// plugin/author/notes/post-drafts.ts: drafts of notes, which survive a crash, and the note of a draft.
import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import { reworded, TwtxtError } from "../../errors.js";
import { Collection } from "../../store/collection.js";
import type { Store } from "../../store/store.js";
import { blobSite } from "../blobs/blob-site.js";
import { checkFileSize, contentsOfBytes } from "../blobs/file-contents.js";
import { type DraftSave, mayReplace } from "../draft-version.js";
import type { Machine, OwnSiteChoice } from "../machine.js";
import type { Site } from "../site.js";
import { openSiteData } from "../site-store.js";
import {
  DRAFT_ID,
  type DraftPicture,
  DraftPictures,
  findPictures,
  linkPictures,
  PICTURE_LIMITS,
  type PicturePlace,
  pictureType,
} from "./draft-pictures.js";
import { composeNote, type Note, notePictureName, parseTags } from "./notes.js";
import { AnsweredTwt } from "./reply.js";

const DRAFT = v.object({
  id: v.string(),
  body: v.string(),
  /** Empty for a note. */
  title: v.optional(v.string(), ""),
  /** Those of this post alone, as typed: separated by commas. */
  tags: v.optional(v.string(), ""),
  /** The value for the front matter; `null` for no reply. */
  replyTo: v.nullable(v.string()),
  /** The twt that the author chose to reply to; `replyTo` may have changed since. */
  answered: v.optional(v.nullable(AnsweredTwt), null),
  /** When it was saved, as an ISO date. */
  saved: v.string(),
  /** An ID of the page that saved it last, and which of its saves this is. */
  page: v.string(),
  edit: v.number(),
});

export type PostDraft = v.InferOutput<typeof DRAFT>;

export type SavedText = Omit<PostDraft, "saved"> & DraftSave;

/** The drafts of a site on this machine, in the author's data folder. All methods throw TwtxtError `store-failed`. */
export class PostDrafts {
  readonly pictures: DraftPictures;
  readonly #drafts: Collection<PostDraft>;

  constructor(
    store: Store,
    private readonly now: Clock,
    limits = PICTURE_LIMITS,
  ) {
    this.pictures = new DraftPictures(store, limits);
    this.#drafts = new Collection(store, "drafts/", DRAFT);
  }

  /**
   * Saves a draft. Does not replace what another page has saved since this one was loaded: its text becomes a draft of its
   * own then.
   *
   * @returns the draft, with another ID if it is a new one
   */
  async save(text: SavedText): Promise<PostDraft> {
    const id = DRAFT_ID.test(text.id) ? text.id : randomUUID();
    const saved = await this.#replace({ ...text, id });
    if (saved.page === text.page) return saved;
    const other = randomUUID();
    await this.pictures.copy(id, other);
    return this.#replace({ ...text, id: other });
  }

  /** @returns the stored draft: that of another page if it was not replaced */
  async #replace({ seen, ...text }: SavedText): Promise<PostDraft> {
    const draft: PostDraft = { ...text, saved: new Date(this.now()).toISOString() };
    const stored = await this.#drafts.update(text.id, (old) => {
      return old === null || mayReplace(old, { ...text, seen }) ? draft : null;
    });
    return stored ?? draft;
  }

  /** The newest first. */
  async list(): Promise<PostDraft[]> {
    return (await this.#drafts.list()).sort((a, b) => (a.saved < b.saved ? 1 : -1));
  }

  /** @throws TwtxtError `not-found` */
  async find(id: string): Promise<PostDraft> {
    const draft = DRAFT_ID.test(id) ? await this.#drafts.get(id) : null;
    if (draft === null) throw new TwtxtError("not-found", "There is no such draft. It may be saved as a post.");
    return draft;
  }

  async delete(id: string): Promise<void> {
    if (!DRAFT_ID.test(id)) return;
    // First: pictures without a draft would count, and no page would show them.
    await this.pictures.clear(id);
    await this.#drafts.delete(id);
  }
}

/** The drafts of a site. Previews of a site for another address have the same, because the feed is the same. */
export function postDrafts({ settings }: Site, machine: Machine): PostDrafts {
  return new PostDrafts(openSiteData("drafts", settings.feedUrl, machine), machine.now);
}

/** How a draft becomes a note. */
export interface NoteChoice {
  /** Absolute. */
  folder: string;
  place: PicturePlace;
}

export async function shownPictures({ id, body }: Pick<PostDraft, "id" | "body">, { pictures }: PostDrafts) {
  const shown = new Set(findPictures(body));
  return (await pictures.of(id)).filter(({ name }) => shown.has(name));
}

/** Composes the note of a draft. Pictures that its text does not show are not part of it. */
export async function composeDraft(
  draft: Pick<PostDraft, "id" | "body" | "replyTo" | "title" | "tags">,
  { folder, place }: NoteChoice,
  { drafts, site, machine }: { drafts: PostDrafts; site: Site; machine: Machine },
): Promise<Note> {
  const shown = await shownPictures(draft, drafts);
  const { title, tags } = draft;
  const note = { folder, body: draft.body, title, tags: parseTags(tags), replyTo: draft.replyTo ?? undefined };
  if (place === "blob") {
    // The key of a picture's blob is its hash, so it is known before the blob is stored.
    const links = new Map(shown.map(({ name, sha256 }) => [name, `blob:${sha256}`]));
    return composeNote({ ...note, body: linkPictures(draft.body, (name) => links.get(name)) }, site, machine);
  }
  const pictures = shown.map(({ name }) => ({ name, bytes: () => drafts.pictures.bytes(draft.id, name) }));
  return composeNote({ ...note, pictures }, site, machine);
}

/**
 * Makes pictures of a draft public. Call it only after the author has confirmed them. The keys are the hashes of the pictures,
 * so another try stores nothing twice.
 *
 * @throws TwtxtError `too-large`, before anything is sent; as `blobSite` and `OwnBlobs.put`
 */
export async function sharePictures(
  { draft, pictures }: { draft: string; pictures: readonly DraftPicture[] },
  { stored, choice, machine }: { stored: DraftPictures; choice: OwnSiteChoice; machine: Machine },
): Promise<void> {
  const site = await blobSite(choice, machine);
  for (const { name, size } of pictures) {
    const check = async () => checkFileSize(size, site, false);
    const explain = ({ message }: TwtxtError) =>
      `${name}: ${message} Or choose files beside the note for its pictures.`;
    await check().catch(reworded(explain));
  }
  for (const [at, { name, sha256 }] of pictures.entries()) {
    const contents = contentsOfBytes(await stored.bytes(draft, name));
    const file = { type: pictureType(name), filename: notePictureName(machine.now(), at + 1, extname(name)) };
    await site.blobs.put(sha256, contents, { change: { isPublic: true }, file, isSentAnyway: false });
  }
}
