// plugin/client/files/uploads.ts: the uploads of the client: first to this machine, then to the site, a few at once.
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";
import { blobSite } from "../../author/blobs/blob-site.js";
import {
  checkFileSize,
  cleanPictureFile,
  fileSealer,
  findFile,
  prepareBlob,
  type SourceFile,
} from "../../author/blobs/file-contents.js";
import { type WorkFolder, writeChunks } from "../../author/files.js";
import type { ChangeResult } from "../../blobs/client/own-blobs.js";
import { TwtxtError } from "../../errors.js";
import type { ClientContext } from "../notices.js";
import { faultText } from "../page-parts.js";

const CONCURRENCY = 2;
const MAX_ENDED = 50;

interface UploadsOptions extends Pick<ClientContext, "choice" | "machine" | "ending"> {
  folder: WorkFolder;
  onStored(): void;
}

/** All uploads since the client was started, until they are removed from the list. */
export class Uploads {
  readonly #queue = new PQueue({ concurrency: CONCURRENCY });
  readonly #ids = new Set<string>();
  /** Newest first. */
  all: readonly Upload[] = [];
  /** How many stored files {@link removeStored} has removed from the list. */
  removed = 0;

  constructor(private readonly options: UploadsOptions) {}

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

  /** Removes stored files from the list once a page has shown their result. Called with each new list of blobs. */
  removeStored(): void {
    const stored = this.all.filter(({ isStoredCleanly }) => isStoredCleanly);
    const seen = stored.filter(({ isSeen }) => isSeen);
    for (const upload of stored) upload.isSeen = true;
    this.all = this.all.filter((upload) => !seen.includes(upload));
    this.removed += seen.length;
  }

  async clear(): Promise<void> {
    this.removed = 0;
    await this.#remove(this.all.filter(({ isEnded }) => isEnded));
  }

  /** Removes uploads from the list, and their files, which wait for another attempt. */
  async #remove(removed: readonly Upload[]): Promise<void> {
    this.all = this.all.filter((upload) => !removed.includes(upload));
    for (const upload of removed) await this.#discard(upload);
  }

  /** Sends a file that could not be sent, or whose upload is paused, from its beginning. */
  retry(upload: Upload): void {
    if (!upload.canRetry || upload.file === null) return;
    upload.restart();
    void this.#send(upload, upload.file);
  }

  async cancel(upload: Upload): Promise<void> {
    upload.cancel();
    if (upload.stage === "cancelled") await this.#discard(upload);
  }

  /** Deletes the file of an upload. A file that stays is deleted when the client ends. */
  async #discard(upload: Upload): Promise<void> {
    await this.#findPath(upload)
      .then((path) => rm(path, { force: true }))
      .catch(() => {});
  }

  async #findPath({ id }: Upload): Promise<string> {
    return join(await this.options.folder.path(), id);
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
    await this.#receive(upload, chunks);
    return upload;
  }

  async #receive(upload: Upload, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { choice, machine, ending } = this.options;
    const { filename, size, visibility, isCleaned } = upload.choice;
    try {
      const path = await this.#findPath(upload);
      const site = await blobSite(choice, machine, ending);
      const check = (bytes: number) => checkFileSize(bytes, site, visibility === "sealed");
      check(size ?? 0);
      await writeChunks(path, checked(chunks, check), AbortSignal.any([upload.stopped, ending]));
      if (isCleaned) upload.remark = await cleanPictureFile(path, filename);
      const file = await findFile(path, filename);
      upload.stopped.throwIfAborted();
      upload.file = { ...file, filename };
      Object.assign(upload, { stage: "waiting", total: file.size });
      void this.#send(upload, upload.file);
    } catch (error) {
      this.#fail(upload, error);
      await this.#discard(upload);
    }
  }

  async #send(upload: Upload, file: SourceFile): Promise<void> {
    const { stopped } = upload;
    const put = async () => {
      if (!stopped.aborted) await this.#put(upload, file, stopped);
    };
    await this.#queue.add(put).catch((error) => {
      if (!stopped.aborted) this.#fail(upload, error);
    });
    if (upload.isEnded && !upload.canRetry) await this.#discard(upload);
  }

  async #put(upload: Upload, file: SourceFile, stopped: AbortSignal): Promise<void> {
    const { choice, machine, ending, onStored } = this.options;
    const { visibility } = upload.choice;
    const site = await blobSite(choice, machine, AbortSignal.any([ending, stopped]));
    const sealFile = visibility === "sealed" ? await fileSealer([], site.author, choice, machine) : null;
    // A file that the site already has stays public.
    const change = visibility === "public" ? { isPublic: true } : {};
    const { key, contents, ...options } = await prepareBlob(file, { site, change, sealFile });
    stopped.throwIfAborted();
    Object.assign(upload, { stage: "sending", total: contents.size });
    const counted = { ...contents, chunks: () => upload.sending(contents.chunks(), stopped) };
    const result = await site.blobs.put(key, counted, { ...options, isSentAnyway: false });
    Object.assign(upload, { stage: "done", sent: upload.total, result });
    onStored();
  }

  #fail(upload: Upload, error: unknown): void {
    if (upload.stage === "cancelled") return;
    upload.stage = "failed";
    upload.remark = faultText(error, this.options.machine);
  }
}

const INTERRUPTED = "Interrupted: the page was left before the file had arrived. Choose it again.";

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

export type Visibility = "private" | "public" | "sealed";

export interface UploadChoice {
  /** A valid name for a blob. */
  filename: string;
  /** In bytes; `null` if the browser has not sent it. */
  size: number | null;
  visibility: Visibility;
  /** Whether location data and other metadata is removed from a picture. */
  isCleaned: boolean;
}

type Stage = "receiving" | "waiting" | "sending" | "paused" | "storing" | "done" | "failed" | "cancelled";

const ENDED: readonly Stage[] = ["done", "failed", "cancelled"];

/** An upload from the browser to this machine, and from here to the site. */
export class Upload {
  stage: Stage = "receiving";
  sent = 0;
  total: number;
  result: ChangeResult | null = null;
  /** Why it failed, or what the author should know; sentences. */
  remark: string | null = null;
  #stopping = new AbortController();
  isSeen = false;
  /** On this machine, so that it can be sent again; `null` before all of it has arrived. */
  file: SourceFile | null = null;

  constructor(
    readonly id: string,
    readonly choice: UploadChoice,
  ) {
    this.total = choice.size ?? 0;
  }

  get isPaused(): boolean {
    return this.stage === "paused";
  }

  get isEnded(): boolean {
    return ENDED.includes(this.stage);
  }

  get canPause(): boolean {
    return this.stage === "waiting" || this.stage === "sending";
  }

  /** Whether it can be cancelled: once all is sent, the site has it. */
  get canStop(): boolean {
    return !this.isEnded && this.stage !== "storing";
  }

  /** Whether it is stored, without a remark for the author. */
  get isStoredCleanly(): boolean {
    return this.stage === "done" && this.remark === null && !this.result?.note;
  }

  get canRetry(): boolean {
    return (this.stage === "failed" || this.isPaused) && this.file !== null;
  }

  /** Aborted when it is paused or cancelled. */
  get stopped(): AbortSignal {
    return this.#stopping.signal;
  }

  pause(): void {
    if (this.canPause) this.#stop("paused");
  }

  cancel(): void {
    if (this.canStop) this.#stop("cancelled");
  }

  #stop(stage: Stage): void {
    this.stage = stage;
    this.#stopping.abort(new TwtxtError("unreachable", "Stopped."));
  }

  /** Waits again to be sent from the beginning. */
  restart(): void {
    this.#stopping = new AbortController();
    Object.assign(this, { stage: "waiting", sent: 0, remark: this.isPaused ? this.remark : null });
  }

  /** Passes contents on until it is stopped, and counts them. */
  async *sending(chunks: AsyncIterable<Uint8Array>, stopped: AbortSignal): AsyncGenerator<Uint8Array> {
    this.sent = 0;
    for await (const chunk of chunks) {
      stopped.throwIfAborted();
      this.sent += chunk.length;
      // The request cannot be taken back once its last byte is sent.
      if (this.sent >= this.total) this.stage = "storing";
      yield chunk;
    }
  }
}
