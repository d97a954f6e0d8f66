// plugin/client/files/stored-files.ts: the author's blobs at the site, and their contents.
import { setTimeout } from "node:timers/promises";
import { type BlobList, listBlobs } from "../../author/blobs/blob-list.js";
import { type BlobSite, blobSite } from "../../author/blobs/blob-site.js";
import { ownBlob, type ReceivedFile, receiveFile } from "../../author/blobs/received-file.js";
import type { WorkFolder } from "../../author/work-folder.js";
import { type BlobFields, type BlobInfo, shortKey } from "../../blobs/blob.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { filenameFrom } from "../../blobs/metadata.js";
import { ifTwtxtError, TwtxtError } from "../../errors.js";
import { readEssence } from "../../http/respond.js";
import { MAX_PICTURE_BYTES, pictureToShow } from "../../pictures/picture-to-show.js";
import { CLEANED_TYPES, type CleanPicture } from "../../pictures/remove-metadata.js";
import type { Download } from "../contents-response.js";
import type { ClientContext } from "../room.js";

/** Maximum age of the list while the page shows uploads, because it is then requested again every few seconds. */
export const LIST_MS = 20_000;
/** The longest time that a page waits for the list. */
const LIST_WAIT_MS = 2000;
/** Total size of the previews in memory. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;
/** The name and type of a sealed file, which only its contents tell. */
export type OpenedName = Record<"filename" | "type", string>;

/** What is known of the author's blobs. */
export interface Listing {
  /** `null` before the first one. */
  list: BlobList | null;
  /** Why the last attempt to read it failed, in sentences; `null` if it did not. */
  fault: string | null;
  /** Whether the site is still being asked. */
  isReading: boolean;
}

/** The author's blobs, with the list, previews and opened names in memory. */
export class StoredFiles {
  readonly #context: Pick<ClientContext, "choice" | "machine" | "ending">;
  readonly #folder: WorkFolder;
  readonly #previews = new Map<string, CleanPicture | null>();
  /** By the SHA-256 of the sealed contents. */
  readonly #opened = new Map<string, OpenedName>();
  #listed: { at: number; isPending: boolean; list: Promise<BlobList> } | null = null;
  #known: Omit<Listing, "isReading"> = { list: null, fault: null };

  constructor(context: Pick<ClientContext, "choice" | "machine" | "ending">, folder: WorkFolder) {
    this.#context = context;
    this.#folder = folder;
  }

  /** @throws TwtxtError as {@link blobSite} */
  site(): Promise<BlobSite> {
    const { choice, machine, ending } = this.#context;
    return blobSite(choice, machine, ending);
  }

  /**
   * The author's blobs.
   *
   * @param maxAgeMs - how old the list may be; it always has the changes that this client made
   * @throws TwtxtError as the client of the site, and as {@link site}
   */
  async list(maxAgeMs = 0): Promise<BlobList> {
    const now = this.#context.machine.now();
    const listed = this.#listed;
    if (listed !== null && (listed.isPending || now - listed.at < maxAgeMs)) return listed.list;
    const reading = { at: now, isPending: true, list: this.site().then(listBlobs) };
    this.#listed = reading;
    try {
      const list = await reading.list;
      this.#known = { list, fault: null };
      return list;
    } catch (error) {
      if (error instanceof TwtxtError) this.#known.fault = error.message;
      if (this.#listed === reading) this.#listed = null;
      throw error;
    } finally {
      reading.isPending = false;
    }
  }

  /** What is known of the list without waiting long for a site that does not answer. @param maxAgeMs - as in {@link list} */
  async listing(maxAgeMs: number): Promise<Listing> {
    const reading = this.list(maxAgeMs)
      .then(() => false)
      .catch(ifTwtxtError(() => false));
    const isReading = await Promise.race([reading, setTimeout(LIST_WAIT_MS, true, { ref: false })]);
    return { ...this.#known, isReading };
  }

  /** A blob, also one that is not as the author stored it. @throws TwtxtError `not-found`, and as {@link list} */
  async find(key: string, maxAgeMs = 0): Promise<BlobInfo> {
    const { rows } = await this.list(maxAgeMs);
    const found = rows.find(({ blob }) => blob.key === key);
    if (!found && maxAgeMs > 0) return this.find(key);
    if (!found) throw new TwtxtError("not-found", `There is no file ${shortKey(key)}.`);
    return found.blob;
  }

  /** Drops the list, so that the next call reads it again. */
  changed(): void {
    this.#listed = null;
  }

  /** The name of a sealed file that was opened before; `null` for all others. */
  openedName({ sha256 }: Pick<BlobFields, "sha256">): OpenedName | null {
    return this.#opened.get(sha256) ?? null;
  }

  /** The contents of a blob, verified, and opened if it is sealed to the author. @throws TwtxtError as `receiveFile` */
  async #contents(key: string): Promise<ReceivedFile> {
    const { machine, choice } = this.#context;
    const source = await ownBlob(key, await this.site(), machine);
    const namesKey = (choice.identity ?? choice.as) !== undefined;
    const folder = await this.#folder.path();
    const received = await receiveFile(source, { folder, opens: true, isAnyAccepted: false, namesKey });
    const { file } = received.opening;
    if (file) this.#opened.set(received.received.blob.sha256, { filename: file.filename, type: file.type });
    return received;
  }

  /**
   * A blob to save under its own name.
   *
   * @throws TwtxtError `not-allowed` for one that stays sealed, and as `receiveFile`
   */
  async download(key: string): Promise<Download> {
    const { draft, received, opening } = await this.#contents(key);
    const { blob } = received;
    const { file, why } = opening;
    // Nothing is read from a file that stays sealed, or was opened in memory.
    if (file !== null || why !== null) await draft.clear();
    if (why !== null) throw new TwtxtError("not-allowed", `It stays sealed: ${why}`);
    return {
      filename: filenameFrom((file ?? blob).filename) || blob.key,
      size: file?.bytes.length ?? blob.size,
      body: file?.bytes ?? draft.stream(),
      etag: blob.sha256,
    };
  }

  /** A picture to show; `null` for other files. @throws TwtxtError as {@link find} and `receiveFile` */
  async preview(key: string): Promise<CleanPicture | null> {
    const blob = await this.find(key, LIST_MS);
    if (!this.mayBePicture(blob)) return null;
    const known = this.#previews.get(blob.sha256);
    if (known !== undefined) return known;
    const preview = await this.#readPreview(key);
    this.#keep(blob.sha256, preview);
    return preview;
  }

  /** Whether a file can have a preview, as far as is known: only its contents tell. */
  mayBePicture({ type, size, sha256 }: Pick<BlobFields, "type" | "size" | "sha256">): boolean {
    if (size > MAX_PICTURE_BYTES || this.#previews.get(sha256) === null) return false;
    const known = this.#opened.get(sha256)?.type ?? type;
    return CLEANED_TYPES.includes(readEssence(known)) || isSealedType(known);
  }

  async #readPreview(key: string): Promise<CleanPicture | null> {
    const { draft, opening } = await this.#contents(key);
    try {
      return pictureToShow(opening.file?.bytes ?? (await draft.bytes()), shortKey(key));
    } catch (error) {
      if (error instanceof TwtxtError && error.code === "bad-file") return null;
      throw error;
    } finally {
      await draft.clear();
    }
  }

  #keep(sha256: string, preview: CleanPicture | null): void {
    this.#previews.set(sha256, preview);
    let size = 0;
    for (const [key, kept] of [...this.#previews].reverse()) {
      size += kept?.bytes.length ?? 0;
      if (size > MAX_KEPT_BYTES) this.#previews.delete(key);
    }
  }
}
