// plugin/author/notes/draft-pictures.ts: the pictures of drafts on this machine, without their metadata.
import { createHash } from "node:crypto";
import { extname } from "node:path";
import * as v from "valibot";
import { ANY_TYPE } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { type CleanPicture, removeMetadata, typeOfExtension } from "../../pictures/remove-metadata.js";
import { Collection } from "../../store/collection.js";
import { readJson, update, writeJson } from "../../store/json.js";
import type { StreamingStore } from "../../store/store.js";
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

/** Limits of pictures that wait in drafts. */
export interface PictureLimits {
  /** In one draft. */
  count: number;
  /** In all drafts of a site. */
  bytes: number;
}

export const PICTURE_LIMITS: PictureLimits = { count: 20, bytes: 200 * 2 ** 20 };

/** The format of a draft's ID. */
export const DRAFT_ID = /^[0-9a-f-]{36}$/;
const PREFIX = "draft-pictures/";
const LIST = "list.json";
const PLACE_KEY = "preferences/pictures";

/** The media type of a picture of a draft, by its name. */
export function pictureType(name: string): string {
  return typeOfExtension(extname(name)) ?? ANY_TYPE;
}

/** The pictures of the drafts in a store. All methods throw TwtxtError `store-failed`. */
export class DraftPictures {
  readonly #store: StreamingStore;
  readonly #limits: PictureLimits;

  constructor(store: StreamingStore, limits: PictureLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** In the order in which they were added. */
  async of(draft: string): Promise<DraftPicture[]> {
    if (!DRAFT_ID.test(draft)) return [];
    return (await readJson(this.#store, listKey(draft), PICTURES))?.value ?? [];
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
    await update(this.#store, listKey(draft), PICTURES, (old) => [...(old ?? []), picture]);
    return picture;
  }

  /** Copies all pictures to another draft, which has none. The limits do not apply. */
  async copy(from: string, to: string): Promise<void> {
    const pictures = await this.of(from);
    for (const { name } of pictures) await this.#store.put(pictureKey(to, name), await this.bytes(from, name));
    if (pictures.length > 0) await writeJson(this.#store, listKey(to), pictures);
  }

  async remove(draft: string, name: string): Promise<void> {
    if (!(await this.#find(draft, name))) return;
    await update(this.#store, listKey(draft), PICTURES, (old) => (old ?? []).filter((one) => one.name !== name));
    await this.#store.delete(pictureKey(draft, name));
  }

  async clear(draft: string): Promise<void> {
    const keys = await this.#store.keys(`${PREFIX}${draft}/`);
    await Promise.all(keys.map((key) => this.#store.delete(key)));
  }

  /** @throws TwtxtError `not-found` */
  async bytes(draft: string, name: string): Promise<Uint8Array> {
    const stored = (await this.#find(draft, name)) && (await this.#store.get(pictureKey(draft, name)));
    if (!stored) throw missing(name);
    return stored.bytes;
  }

  /** A picture and its bytes as a stream. @throws TwtxtError `not-found` */
  async read(draft: string, name: string): Promise<{ picture: DraftPicture; stream: ReadableStream<Uint8Array> }> {
    const picture = await this.#find(draft, name);
    const stream = picture && (await this.#store.read(pictureKey(draft, name)));
    if (!stream) throw missing(name);
    return { picture, stream };
  }

  /** The place that the author chose last. */
  async place(): Promise<PicturePlace> {
    return (await readJson(this.#store, PLACE_KEY, PLACE))?.value ?? "beside";
  }

  async rememberPlace(place: PicturePlace): Promise<void> {
    if ((await this.place()) !== place) await writeJson(this.#store, PLACE_KEY, place);
  }

  async #find(draft: string, name: string): Promise<DraftPicture | undefined> {
    return (await this.of(draft)).find((picture) => picture.name === name);
  }

  /** Stores a picture under the first name that is free. */
  async #put(draft: string, before: readonly DraftPicture[], { bytes, extension }: CleanPicture): Promise<string> {
    const last = Math.max(0, ...before.map(({ name }) => Number(/\d+/.exec(name)?.[0])));
    for (let number = last + 1; ; number += 1) {
      const name = `picture-${number}${extension}`;
      if ((await this.#store.put(pictureKey(draft, name), bytes, { isNew: true })) !== null) return name;
    }
  }

  async #checkLimits(count: number, size: number, name: string): Promise<void> {
    if (count >= this.#limits.count) {
      throw new TwtxtError("too-large", `${name} was not added: a note has at most ${this.#limits.count} pictures.`);
    }
    const drafts = new Collection(this.#store, PREFIX, PICTURES);
    const lists = (await drafts.ids()).filter((id) => id.endsWith(`/${LIST}`));
    const stored = (await drafts.getAll(lists)).flat().reduce((sum, picture) => sum + picture.size, 0);
    if (stored + size <= this.#limits.bytes) return;
    throw new TwtxtError(
      "too-large",
      `${name} was not added: your drafts contain pictures of ${sizeText(stored)}, and the limit is ${sizeText(this.#limits.bytes)}. Delete a draft that you do not need, then add it again.`,
    );
  }
}

function listKey(draft: string): string {
  return pictureKey(draft, LIST);
}

function pictureKey(draft: string, name: string): string {
  return `${PREFIX}${draft}/${name}`;
}

function missing(name: string): TwtxtError {
  return new TwtxtError("not-found", `The draft has no picture ${JSON.stringify(name)}.`);
}
