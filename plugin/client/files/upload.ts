// plugin/client/files/upload.ts: one upload: the author's choices, its progress, and how it is paused and cancelled.
import type { ChangeResult } from "../../blobs/client/own-blobs.js";
import { TwtxtError } from "../../errors.js";

/** Who can read a file. */
export type Visibility = "private" | "public" | "sealed";

/** What the author chose for a file. */
export interface UploadChoice {
  /** A valid name for a blob. */
  filename: string;
  /** In bytes; `null` if the browser has not sent it. */
  size: number | null;
  visibility: Visibility;
  /** Whether location data and other metadata is removed from a picture. */
  isCleaned: boolean;
}

type Stage = "receiving" | "waiting" | "sending" | "storing" | "done" | "failed" | "cancelled";

const ENDED: readonly Stage[] = ["done", "failed", "cancelled"];

/** An upload from the browser to this machine, and from here to the site. */
export class Upload {
  stage: Stage = "receiving";
  /** Bytes that were sent to the site. */
  sent = 0;
  /** Bytes to send. */
  total: number;
  result: ChangeResult | null = null;
  /** Why it failed, or what the author should know; sentences. */
  remark: string | null = null;
  readonly #cancelling = new AbortController();
  /** Whether a page has shown that it is done. */
  isSeen = false;
  /** Whether this machine has the file, so that it can be sent again. */
  isReceived = false;
  #pause: { ended: Promise<void>; end(): void } | null = null;
  #onPause: () => void = () => {};

  constructor(
    readonly id: string,
    readonly choice: UploadChoice,
  ) {
    this.total = choice.size ?? 0;
  }

  get isPaused(): boolean {
    return this.#pause !== null;
  }

  get isEnded(): boolean {
    return ENDED.includes(this.stage);
  }

  /** Whether it can be paused or cancelled: once all is sent, the site has it. */
  get canStop(): boolean {
    return !this.isEnded && this.stage !== "storing";
  }

  /** Whether it is stored, without a remark for the author. */
  get isStoredCleanly(): boolean {
    return this.stage === "done" && this.remark === null && !this.result?.note;
  }

  get canRetry(): boolean {
    return this.stage === "failed" && this.isReceived;
  }

  /** Is aborted when the upload is cancelled. */
  get cancelled(): AbortSignal {
    return this.#cancelling.signal;
  }

  pause(): void {
    if (this.#pause !== null || !this.canStop) return;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#pause = { ended, end };
    this.#onPause();
  }

  resume(): void {
    this.#pause?.end();
    this.#pause = null;
  }

  cancel(): void {
    if (!this.canStop) return;
    this.stage = "cancelled";
    this.#cancelling.abort(new TwtxtError("unreachable", "Cancelled."));
    this.resume();
  }

  /** Resolves at once unless it is paused, else when it is resumed or cancelled. */
  async unpaused(): Promise<void> {
    await this.#pause?.ended;
  }

  /**
   * Passes contents on while it is not paused, and counts them.
   *
   * @param onPause - called when it is paused meanwhile
   */
  async *sending(chunks: AsyncIterable<Uint8Array>, onPause: () => void): AsyncGenerator<Uint8Array> {
    this.#onPause = onPause;
    this.sent = 0;
    if (this.isPaused) onPause();
    try {
      for await (const chunk of chunks) {
        await this.unpaused();
        this.cancelled.throwIfAborted();
        this.sent += chunk.length;
        // The request cannot be taken back once its last byte is sent.
        if (this.sent >= this.total) this.stage = "storing";
        yield chunk;
      }
    } finally {
      this.#onPause = () => {};
    }
  }
}
