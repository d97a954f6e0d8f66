// plugin/client/files/multipart.ts: reads a form with files as it arrives, without holding the files in memory (RFC 7578).
import { TwtxtError } from "../../errors.js";

/** A field of a form, or a file. */
interface Part {
  name: string;
  /** As the browser sent it; `null` for a field. */
  filename: string | null;
  /** Can be read once, before the next part. */
  chunks: AsyncIterable<Uint8Array>;
}

const MAX_HEADER_BYTES = 16 * 1024;
const LINE_END = Buffer.from("\r\n");
const HEADER_END = Buffer.from("\r\n\r\n");

/** @throws TwtxtError `bad-request` for anything else */
export function boundaryOf(contentType: string): string {
  const [, quoted, plain] =
    /^multipart\/form-data;.*?boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new TwtxtError("bad-request", "Send a form with files.");
  return boundary;
}

/**
 * Reads the parts of a form. A part that is not read to its end is skipped.
 *
 * @throws TwtxtError `bad-request` if the form ends early or is malformed
 */
export async function* partsOf(body: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Part> {
  const source = new Source(body);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  await drain(source.until(delimiter));
  // Two hyphens follow the last delimiter.
  while ((await source.take(LINE_END, 2)).length === 0) {
    const header = (await source.take(HEADER_END, MAX_HEADER_BYTES)).toString("utf8");
    let isOver = false;
    const chunks = async function* () {
      yield* source.until(delimiter);
      isOver = true;
    };
    yield { ...namesIn(header), chunks: chunks() };
    if (!isOver) await drain(source.until(delimiter));
  }
}

/** Browsers write a quotation mark and line ends in names as `%22`, `%0D` and `%0A`. */
function namesIn(header: string): Pick<Part, "name" | "filename"> {
  const [, parameters = ""] = /^content-disposition:[ \t]*form-data;(.*)$/im.exec(header) ?? [];
  const value = (name: string) => new RegExp(`[; \\t]${name}="([^"]*)"`).exec(` ${parameters}`)?.[1];
  const decoded = (text: string) => text.replace(/%(?:22|0D|0A)/gi, decodeURIComponent);
  const name = value("name");
  if (name === undefined) throw malformed();
  const filename = value("filename");
  return { name: decoded(name), filename: filename === undefined ? null : decoded(filename) };
}

/** The bytes of a body, up to some other bytes. */
class Source {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** The first delimiter has no line end before it. */
  #buffer: Buffer = LINE_END;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** Yields what is before the mark, and skips the mark. */
  async *until(mark: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#buffer.indexOf(mark);
      const end = at >= 0 ? at : Math.max(0, this.#buffer.length - mark.length + 1);
      const before = this.#buffer.subarray(0, end);
      this.#buffer = this.#buffer.subarray(at >= 0 ? at + mark.length : end);
      if (before.length > 0) yield before;
      if (at >= 0) return;
      await this.#fill();
    }
  }

  /** What is before the mark, or the first bytes if it does not come in as many. The mark is skipped. */
  async take(mark: Buffer, maxBytes: number): Promise<Buffer> {
    for (;;) {
      const at = this.#buffer.indexOf(mark);
      if (at >= 0 && at <= maxBytes) {
        const found = this.#buffer.subarray(0, at);
        this.#buffer = this.#buffer.subarray(at + mark.length);
        return found;
      }
      if (this.#buffer.length >= maxBytes) return this.#buffer.subarray(0, maxBytes);
      await this.#fill();
    }
  }

  async #fill(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done) throw new TwtxtError("bad-request", "The form ended early. Send it again.");
    this.#buffer = Buffer.concat([this.#buffer, value]);
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

function malformed(): TwtxtError {
  return new TwtxtError("bad-request", "This form cannot be read. Reload the page and try again.");
}
