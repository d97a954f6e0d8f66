// plugin/author/notes/draft-pictures.ts: the pictures of drafts on this machine, without their metadata, and pictures in the text of a note, linked by file name.
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import * as v from "valibot";
import { ANY_TYPE } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { type CleanPicture, removeMetadata, typeOfExtension } from "../../pictures/remove-metadata.js";
import { Collection } from "../../store/collection.js";
import { readJson, update, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import { sizeText } from "../amounts.js";

const PICTURE = v.object({
  /** In the text of the draft, such as `picture-1.jpg`. No name of a camera or a stranger is used. */
  name: v.string(),
  /** In bytes. */
  size: v.number(),
  sha256: v.string(),
});
const PICTURES = v.array(PICTURE);

export type DraftPicture = v.InferOutput<typeof PICTURE>;

const PLACE = v.picklist(["beside", "blob"]);

/** Where pictures are stored when a note is saved: in files beside the note, or as public blobs. */
export type PicturePlace = v.InferOutput<typeof PLACE>;

export interface PictureLimits {
  /** In one draft. */
  count: number;
  /** In all drafts of a site. */
  bytes: number;
}

export const PICTURE_LIMITS: PictureLimits = { count: 20, bytes: 200 * 2 ** 20 };

export const DRAFT_ID = /^[0-9a-f-]{36}$/;
const PREFIX = "draft-pictures/";
const LIST = "list.json";
const PLACE_KEY = "preferences/pictures";

export function pictureType(name: string): string {
  return typeOfExtension(extname(name)) ?? ANY_TYPE;
}

/** The pictures of the drafts in a store. All methods throw TwtxtError `store-failed`. */
export class DraftPictures {
  constructor(
    private readonly store: Store,
    private readonly limits: PictureLimits,
  ) {}

  /** In the order in which they were added. */
  async of(draft: string): Promise<DraftPicture[]> {
    if (!DRAFT_ID.test(draft)) return [];
    return (await readJson(this.store, pictureKey(draft), PICTURES))?.value ?? [];
  }

  /**
   * Adds a picture without its metadata.
   *
   * @param name - of its file, for messages
   * @throws TwtxtError `bad-file` for a file that is not a picture; `too-large` over a limit
   */
  async add(draft: string, { bytes, name }: { bytes: Uint8Array; name: string }): Promise<DraftPicture> {
    const clean = removeMetadata(bytes, name);
    const before = await this.of(draft);
    await this.#checkLimits(before.length, clean.bytes.length, name);
    const picture = {
      name: await this.#put(draft, before, clean),
      size: clean.bytes.length,
      sha256: createHash("sha256").update(clean.bytes).digest("hex"),
    };
    await update(this.store, pictureKey(draft), PICTURES, (old) => [...(old ?? []), picture]);
    return picture;
  }

  /** Copies all pictures to another draft, which has none. The limits do not apply. */
  async copy(from: string, to: string): Promise<void> {
    const pictures = await this.of(from);
    for (const { name } of pictures) await this.store.put(pictureKey(to, name), await this.bytes(from, name));
    if (pictures.length > 0) await writeJson(this.store, pictureKey(to), pictures);
  }

  async remove(draft: string, name: string): Promise<void> {
    if (!(await this.#find(draft, name))) return;
    await update(this.store, pictureKey(draft), PICTURES, (old) => (old ?? []).filter((one) => one.name !== name));
    await this.store.delete(pictureKey(draft, name));
  }

  async clear(draft: string): Promise<void> {
    const keys = await this.store.keys(`${PREFIX}${draft}/`);
    await Promise.all(keys.map((key) => this.store.delete(key)));
  }

  /** @throws TwtxtError `not-found` */
  async bytes(draft: string, name: string): Promise<Uint8Array> {
    const stored = (await this.#find(draft, name)) && (await this.store.get(pictureKey(draft, name)));
    if (!stored) throw new TwtxtError("not-found", `The draft has no picture ${JSON.stringify(name)}.`);
    return stored.bytes;
  }

  async place(): Promise<PicturePlace> {
    return (await readJson(this.store, PLACE_KEY, PLACE))?.value ?? "beside";
  }

  async rememberPlace(place: PicturePlace): Promise<void> {
    if ((await this.place()) !== place) await writeJson(this.store, PLACE_KEY, place);
  }

  async #find(draft: string, name: string): Promise<DraftPicture | undefined> {
    return (await this.of(draft)).find((picture) => picture.name === name);
  }

  async #put(draft: string, before: readonly DraftPicture[], { bytes, extension }: CleanPicture): Promise<string> {
    const last = Math.max(0, ...before.map(({ name }) => Number(/\d+/.exec(name)?.[0])));
    for (let number = last + 1; ; number += 1) {
      const name = `picture-${number}${extension}`;
      if ((await this.store.put(pictureKey(draft, name), bytes, { isNew: true })) !== null) return name;
    }
  }

  async #checkLimits(count: number, size: number, name: string): Promise<void> {
    if (count >= this.limits.count) {
      throw new TwtxtError("too-large", `${name} was not added: a note has at most ${this.limits.count} pictures.`);
    }
    const drafts = new Collection(this.store, PREFIX, PICTURES);
    const lists = (await drafts.ids()).filter((id) => id.endsWith(`/${LIST}`));
    const stored = (await drafts.getAll(lists)).flat().reduce((sum, picture) => sum + picture.size, 0);
    if (stored + size <= this.limits.bytes) return;
    throw new TwtxtError(
      "too-large",
      `${name} was not added: your drafts contain pictures of ${sizeText(stored)}, and the limit is ${sizeText(this.limits.bytes)}. Delete a draft that you do not need, then add it again.`,
    );
  }
}

/** @param name - of a picture, or of the list of all */
function pictureKey(draft: string, name = LIST): string {
  return `${PREFIX}${draft}/${name}`;
}

/** A link or an image in Markdown, or an image in HTML: what comes before the name, and the name. */
const LINK = /(\]\(|\ssrc=")([^\s"'<>()/\\?#:&%]+\.(?:jpe?g|png|webp|gif))(?=[\s")])/gi;
/** An image in Markdown with the space after it: its description and its name. */
const IMAGE = /!\[((?:\\.|[^\\\]])*)\]\(([^\s()]+)[^()]*\) ?/g;

/** The pictures that a text shows or links to by their file name alone, each once. */
export function findPictures(text: string): string[] {
  return [...new Set([...text.matchAll(LINK)].map(([, , name = ""]) => name))];
}

/**
 * Replaces links to pictures.
 *
 * @param linkOf - the new link by the file name; `undefined` to leave a link as it is
 */
export function linkPictures(text: string, linkOf: (name: string) => string | undefined): string {
  return text.replace(LINK, (_, before: string, name: string) => before + (linkOf(name) ?? name));
}

/** The description of a picture in a text. @returns `null` if the text does not show the picture */
export function findDescription(name: string, text: string): string | null {
  const image = [...text.matchAll(IMAGE)].find(([, , shown]) => shown === name);
  return image === undefined ? null : (image[1] ?? "").replace(/\\(.)/g, "$1");
}

/** @example formatImage("a red square", "picture-1.jpg") // "![a red square](picture-1.jpg)" */
export function formatImage(description: string, link: string): string {
  return `![${escapedDescription(description)}](${link})`;
}

/** Describes a picture where the text shows it without a description. */
export function describePicture(text: string, name: string, description: string): string {
  const described = `![${escapedDescription(description)}]`;
  return text.replace(IMAGE, (image, old: string, shown: string) =>
    shown === name && old.trim() === "" ? described + image.slice(image.indexOf("](") + 1) : image,
  );
}

function escapedDescription(description: string): string {
  return description
    .trim()
    .replace(/\s+/g, " ")
    .replace(/[\\[\]]/g, "\\$&");
}

/**
 * Inserts an image: within a line between spaces, elsewhere as a paragraph of its own.
 *
 * @param at - the position of the cursor
 * @returns the new text, and the position after the image
 */
export function insertImage(text: string, at: number, image: string): { text: string; at: number } {
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const isInLine = /[^\n]$/.test(before) && /^[^\n]/.test(after);
  const gap = isInLine ? " " : "\n\n";
  const start = isInLine ? before.replace(/ $/, "") : before.trimEnd();
  const end = isInLine ? after.replace(/^ /, "") : after.trimStart();
  const shown = start === "" ? image : start + gap + image;
  return { text: end === "" ? shown : shown + gap + end, at: shown.length };
}

export function withoutPicture(text: string, name: string): string {
  return text
    .replace(IMAGE, (image, _description, shown: string) => (shown === name ? "" : image))
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The files beside a note that its text shows or links to. @param note - absolute */
export async function picturesBeside(note: string, text: string): Promise<string[]> {
  const files = findPictures(text).map((name) => join(dirname(note), name));
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return files.filter((_, at) => found[at]?.isFile());
}
