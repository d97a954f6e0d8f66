// plugin/client/files/stored-files.ts: the author's blobs at the site, and their contents.
import { setTimeout } from "node:timers/promises";
import { type BlobList, type BlobSite, blobSite, listBlobs } from "../../author/blobs/blob-site.js";
import { ownBlob, type ReceivedFile, receiveFile } from "../../author/blobs/received-file.js";
import type { WorkFolder } from "../../author/files.js";
import { type BlobFields, shortKey } from "../../blobs/blob.js";
import { isSealedType } from "../../blobs/client/sealed-file.js";
import { filenameFrom } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import { firstWithin, remember } from "../../groups.js";
import { readEssence } from "../../http/respond.js";
import { MAX_PICTURE_BYTES, pictureToShow } from "../../pictures/picture-to-show.js";
import { CLEANED_TYPES, type CleanPicture } from "../../pictures/remove-metadata.js";
import type { Download } from "../client-request.js";
import type { ClientContext } from "../notices.js";

const PER_PAGE = 50;
const LIST_WAIT_MS = 2000;
const MAX_KEPT_BYTES = 64 * 2 ** 20;
/** The name and type of a sealed file, which only its contents tell. */
export type OpenedName = Record<"filename" | "type", string>;

/** What is known of a page of the author's blobs. */
export interface Listing {
  /** `null` if it was not read yet. */
  list: BlobList | null;
  /** Why it could not be read, in sentences; `null` if it was. */
  fault: string | null;
  isReading: boolean;
}

/** The author's blobs, with previews and opened names in memory. */
export class StoredFiles {
  readonly #previews = new Map<string, CleanPicture | null>();
  /** By the SHA-256 of the sealed contents. */
  readonly #opened = new Map<string, OpenedName>();
  #first: BlobList | null = null;
  /** The pages that are being read, by their cursors. */
  readonly #reading = new Map<string, Promise<Listing>>();

  constructor(
    private readonly context: Pick<ClientContext, "choice" | "machine" | "ending">,
    private readonly folder: WorkFolder,
  ) {}

  /** @throws TwtxtError as {@link blobSite} */
  site(): Promise<BlobSite> {
    const { choice, machine, ending } = this.context;
    return blobSite(choice, machine, ending);
  }

  /**
   * A page of the list, newest first. Does not wait long for a site that does not answer.
   *
   * @param after - the `next` of the page before; empty for the first
   */
  listing(after: string): Promise<Listing> {
    const known = after === "" ? this.#first : null;
    const reading = remember(this.#reading, after, () => this.#read(after, known));
    const late = { list: known, fault: null, isReading: true };
    return Promise.race([reading, setTimeout(LIST_WAIT_MS, late, { ref: false })]);
  }

  async #read(after: string, known: BlobList | null): Promise<Listing> {
    try {
      const list = await listBlobs(await this.site(), { limit: PER_PAGE, after });
      if (after === "") this.#first = list;
      return { list, fault: null, isReading: false };
    } catch (error) {
      if (!(error instanceof TwtxtError)) throw error;
      return { list: known, fault: error.message, isReading: false };
    } finally {
      this.#reading.delete(after);
    }
  }

  /** A blob, also one that is not as the author stored it. @throws TwtxtError `not-found`, and as the client of the site */
  async find(key: string): Promise<BlobFields> {
    const { blobs, author } = await this.site();
    const found = await blobs.client.head(key);
    if (!found) throw new TwtxtError("not-found", `There is no file ${shortKey(key)}.`);
    return { ...found, owner: author.identity.publicKey };
  }

  /** Drops what is being read, so that the next page shows a change. */
  changed(): void {
    this.#reading.clear();
  }

  /** The name of a sealed file that was opened before; `null` for all others. */
  openedName({ sha256 }: Pick<BlobFields, "sha256">): OpenedName | null {
    return this.#opened.get(sha256) ?? null;
  }

  /** The contents of a blob, verified, and opened if it is sealed to the author. @throws TwtxtError as `receiveFile` */
  async #contents(key: string): Promise<ReceivedFile> {
    const { machine, choice } = this.context;
    const source = await ownBlob(key, await this.site(), machine);
    const namesKey = (choice.identity ?? choice.as) !== undefined;
    const folder = await this.folder.path();
    const received = await receiveFile(source, { folder, opens: true, namesKey });
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
    const blob = await this.find(key);
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
    const newestFirst = [...this.#previews].reverse();
    const kept = firstWithin(newestFirst, MAX_KEPT_BYTES, ([, picture]) => picture?.bytes.length ?? 0);
    for (const [key] of newestFirst.slice(kept.length)) this.#previews.delete(key);
  }
}
