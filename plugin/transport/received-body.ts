// plugin/transport/received-body.ts: the body of a response, received at the speed of the network.
import { Readable } from "node:stream";

/** A response's body that takes all chunks when they arrive, up to its limit, and gives them to a reader of any speed. */
export class ReceivedBody extends Readable {
  /** The bytes that wait for the reader, `#waiting` of them. A chunk for each byte would take a hundred times the memory. */
  #buffer = Buffer.alloc(0);
  #waiting = 0;
  #size = 0;
  #isWanted = false;
  #isEnded = false;
  #error: Error | null = null;

  constructor(
    private readonly maxBytes: number,
    private readonly abort: (reason: Error) => void,
  ) {
    super({ highWaterMark: 0 });
    // A reader gets it, but the body of a redirect has none.
    this.on("error", () => {});
  }

  add(chunk: Uint8Array): void {
    if (this.#isEnded) return;
    this.#keep(chunk);
    this.#size += chunk.length;
    if (this.#size > this.maxBytes) this.abort(new Error(`The response is larger than ${this.maxBytes} bytes.`));
    else this.#pass();
  }

  end(error: Error | null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#pass();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pass();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#isEnded) this.abort(error ?? new Error("The response is not needed."));
    callback(error);
  }

  /** Copies a chunk, since it may be one byte of a large buffer. */
  #keep(chunk: Uint8Array): void {
    const length = this.#waiting + chunk.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#waiting);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#waiting);
    this.#waiting = length;
  }

  /** One push for each call of `_read`: an error drops bytes that were pushed and not read yet. */
  #pass(): void {
    if (!this.#isWanted || (this.#waiting === 0 && !this.#isEnded)) return;
    const bytes = this.#buffer.subarray(0, this.#waiting);
    this.#isWanted = false;
    this.#buffer = Buffer.alloc(0);
    this.#waiting = 0;
    if (bytes.length > 0) this.push(bytes);
    else if (this.#error) this.destroy(this.#error);
    else this.push(null);
  }
}
