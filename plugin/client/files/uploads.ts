// plugin/client/files/uploads.ts: the uploads of the client: first to this machine, then to the site, a few at once.
import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";
import { blobSite } from "../../author/blobs/blob-site.js";
import { cleanPictureFile, type SourceFile } from "../../author/blobs/file-contents.js";
import { checkFileSize, fileSealer, prepareBlob, type SealFile } from "../../author/blobs/prepared-blob.js";
import { orBadFile, readChunks, writeChunks } from "../../author/files.js";
import type { WorkFolder } from "../../author/work-folder.js";
import { TwtxtError } from "../../errors.js";
import { faultText } from "../page-texts.js";
import type { ClientContext } from "../room.js";
import { Upload, type UploadChoice } from "./upload.js";

/** Number of uploads that are sent at the same time. */
const CONCURRENCY = 2;
/** Number of ended uploads that the page lists. */
const MAX_ENDED = 50;
/** Sites, and proxies in front of them, end a request that stalls for a minute or more. */
export const MAX_PAUSE_MS = 30_000;

interface UploadsOptions extends Pick<ClientContext, "choice" | "machine" | "ending"> {
  folder: WorkFolder;
  /** A longer pause ends the request. */
  maxPauseMs: number;
  /** Called when a file is stored. */
  onStored(): void;
}

/** All uploads since the client was started, until they are removed from the list. */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #queue = new PQueue({ concurrency: CONCURRENCY });
  readonly #ids = new Set<string>();
  /** Newest first. */
  all: readonly Upload[] = [];
  /** How many stored files {@link removeStored} has removed from the list. */
  removed = 0;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** @throws TwtxtError `not-found` */
  find(id: string): Upload {
    const found = this.all.find((upload) => upload.id === id);
    if (!found) throw new TwtxtError("not-found", "This upload is no longer in the list.");
    return found;
  }

  /** Whether there was an upload with this ID. Browsers send a request again if its connection ends without an answer. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /**
   * Removes stored files from the list once a page has shown their result, and the site lists them.
   *
   * @param keys - of the blobs that the site lists
   */
  removeStored(keys: ReadonlySet<string>): void {
    const stored = this.all.filter(
      ({ isStoredCleanly, result }) => isStoredCleanly && result !== null && keys.has(result.blob.key),
    );
    const seen = stored.filter(({ isSeen }) => isSeen);
    for (const upload of stored) upload.isSeen = true;
    this.all = this.all.filter((upload) => !seen.includes(upload));
    this.removed += seen.length;
  }

  /** Removes uploads from the list that have ended. */
  async clear(): Promise<void> {
    this.removed = 0;
    await this.#remove(this.all.filter(({ isEnded }) => isEnded));
  }

  /** Removes uploads from the list, and their files, which wait for another attempt. */
  async #remove(removed: readonly Upload[]): Promise<void> {
    this.all = this.all.filter((upload) => !removed.includes(upload));
    for (const upload of removed) await this.#discard(upload);
  }

  /** Sends a file again that could not be sent. @throws TwtxtError `bad-file` */
  async retry(upload: Upload): Promise<void> {
    if (!upload.canRetry) return;
    const path = await this.#findPath(upload);
    const { size } = await orBadFile(stat(path));
    // Another request may have been faster.
    if (!upload.canRetry) return;
    Object.assign(upload, { stage: "waiting", sent: 0, remark: null });
    void this.#send(upload, toSourceFile(upload, path, size));
  }

  /** Deletes the file of an upload. A file that stays is deleted when the client ends. */
  async #discard(upload: Upload): Promise<void> {
    await this.#findPath(upload)
      .then((path) => rm(path, { force: true }))
      .catch(() => {});
  }

  async #findPath({ id }: Upload): Promise<string> {
    return join(await this.#options.folder.path(), id);
  }

  /**
   * Receives a file, and starts to send it to the site.
   *
   * @param chunks - from the browser
   * @param id - a UUID
   * @returns once this machine has the file; if that fails, the upload says why
   */
  async add(choice: UploadChoice, chunks: AsyncIterable<Uint8Array>, id: string = randomUUID()): Promise<Upload> {
    this.#ids.add(id);
    const upload = new Upload(id, choice);
    this.all = [upload, ...this.all];
    await this.#remove(this.all.filter(({ isEnded }, at) => isEnded && at > MAX_ENDED));
    const file = await this.#received(upload, chunks);
    if (file === null) return upload;
    Object.assign(upload, { stage: "waiting", total: file.size, isReceived: true });
    void this.#send(upload, file);
    return upload;
  }

  /** @returns `null` if it has ended, with the reason */
  async #received(upload: Upload, chunks: AsyncIterable<Uint8Array>): Promise<SourceFile | null> {
    const { choice, machine, ending } = this.#options;
    const { filename, size, visibility, isCleaned } = upload.choice;
    try {
      const path = await this.#findPath(upload);
      const site = await blobSite(choice, machine, ending);
      const check = (bytes: number) =>
        checkFileSize(bytes, { site, sealFile: visibility === "sealed" ? unsealed : null });
      check(size ?? 0);
      await writeChunks(path, checked(chunks, check), AbortSignal.any([upload.cancelled, ending]));
      if (isCleaned) upload.remark = await cleanPictureFile(path, filename);
      const { size: received } = await orBadFile(stat(path));
      upload.cancelled.throwIfAborted();
      return toSourceFile(upload, path, received);
    } catch (error) {
      this.#fail(upload, error);
      await this.#discard(upload);
      return null;
    }
  }

  /** A pause that is too long ends the request. The next request sends the file from its beginning. */
  async #send(upload: Upload, file: SourceFile): Promise<void> {
    let isOver = false;
    while (!isOver) {
      await upload.unpaused();
      isOver = await this.#queue.add(() => this.#attempt(upload, file));
    }
    if (!upload.canRetry) await this.#discard(upload);
  }

  /** @returns whether the upload has ended */
  async #attempt(upload: Upload, file: SourceFile): Promise<boolean> {
    const pausing = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const limitPause = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (upload.isPaused) pausing.abort(new TwtxtError("unreachable", "Paused."));
      }, this.#options.maxPauseMs);
    };
    try {
      if (upload.isEnded) return true;
      if (upload.isPaused) return false;
      await this.#put(upload, file, { pausing: pausing.signal, limitPause });
      return true;
    } catch (error) {
      if (pausing.signal.aborted && !upload.isEnded) {
        Object.assign(upload, { stage: "waiting", sent: 0 });
        return false;
      }
      this.#fail(upload, error);
      return true;
    } finally {
      clearTimeout(timer);
    }
  }

  async #put(
    upload: Upload,
    file: SourceFile,
    { pausing, limitPause }: { pausing: AbortSignal; limitPause(): void },
  ): Promise<void> {
    const { choice, machine, ending, onStored } = this.#options;
    const { visibility } = upload.choice;
    const site = await blobSite(choice, machine, AbortSignal.any([ending, upload.cancelled, pausing]));
    const sealFile = visibility === "sealed" ? await fileSealer([], site.author, choice, machine) : null;
    // A file that the site already has stays public.
    const change = visibility === "public" ? { isPublic: true } : {};
    const { key, contents, ...options } = await prepareBlob(file, { site, change, sealFile });
    upload.cancelled.throwIfAborted();
    Object.assign(upload, { stage: "sending", total: contents.size });
    const counted = { ...contents, chunks: () => upload.sending(contents.chunks(), limitPause) };
    const result = await site.blobs.put(key, counted, { ...options, isSentAnyway: false });
    Object.assign(upload, { stage: "done", sent: upload.total, result });
    onStored();
  }

  #fail(upload: Upload, error: unknown): void {
    if (upload.stage === "cancelled") return;
    upload.stage = "failed";
    upload.remark = faultText(error, this.#options.machine);
  }
}

function toSourceFile({ choice: { filename } }: Upload, path: string, size: number): SourceFile {
  return { shown: filename, filename, size, chunks: () => readChunks(path) };
}

const INTERRUPTED = "Interrupted: the page was left before the file had arrived. Choose it again.";

/** Stands for sealing while only the size of a file is checked, before the keys are known. */
const unsealed: SealFile = ({ bytes }) => bytes;

/**
 * Ends as soon as there is more than the site accepts.
 *
 * @throws TwtxtError `bad-request` if the browser stops before the end, such as when its page is closed
 */
async function* checked(chunks: AsyncIterable<Uint8Array>, check: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      check(size);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof TwtxtError) throw error;
    throw new TwtxtError("bad-request", INTERRUPTED, { cause: error });
  }
}
