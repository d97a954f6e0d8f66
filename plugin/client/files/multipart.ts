// plugin/client/files/multipart.ts: reads a form with files as it arrives, without holding the files in memory (RFC 7578).
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import PQueue from "p-queue";
import { TwtxtError } from "../../errors.js";
import type { FormFields } from "../client-request.js";

/** A file of a form. */
export interface FormFile {
  /** As the browser sent it. */
  filename: string;
  /** The text fields before the file. */
  fields: FormFields;
  /** Throws if the form ends before the file. */
  chunks: AsyncIterable<Uint8Array>;
}

/** The form for uploads has a few short fields. */
const LIMITS = { headerSize: 16 * 1024, fieldSize: 1024, fields: 20, files: 1000, parts: 1100 };

/**
 * Reads a form. Empty file inputs, and parts without a name, are skipped.
 *
 * @param take - called for one file after the other; what it does not read is skipped
 * @throws TwtxtError `bad-request` for a body that is not a form with files, ends early, or exceeds a limit
 */
export async function readForm(
  contentType: string,
  body: AsyncIterable<Uint8Array>,
  take: (file: FormFile) => Promise<void>,
): Promise<void> {
  const parser = createParser(contentType);
  const files = new PQueue({ concurrency: 1 });
  const fields: Record<string, string> = {};
  let last: BusboyFileStream | undefined;
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
  };
  parser.on("field", (name, value, _, isTruncated) => {
    if (isTruncated) fail(new TwtxtError("bad-request", "A field of this form is too long."));
    fields[name] = value;
  });
  parser.on("file", (_, stream, filename) => {
    last = stream.on("error", () => {});
    // Browsers send a file without a name if none was chosen.
    if (!filename || failure) return stream.resume();
    // The parser goes on only when a stream has been read to its end, so one that is left early stays open.
    const chunks = stream.iterator({ destroyOnReturn: false });
    // Browsers write a quotation mark and line ends in names as `%22`, `%0D` and `%0A`.
    const decoded = filename.replace(/%(?:22|0D|0A)/gi, decodeURIComponent);
    const file = { filename: decoded, fields: { ...fields }, chunks };
    void files.add(() =>
      take(file)
        .catch(fail)
        .finally(() => stream.resume()),
    );
  });
  const advice = `Upload at most ${LIMITS.files} files at once, then the others.`;
  const tooMany = new TwtxtError("bad-request", `This form has too much in it. ${advice}`);
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const) parser.on(limit, () => fail(tooMany));
  // After an error, the parser ends the last file as if it were complete.
  parser.on("error", () => last?.destroy());
  try {
    await pipeline(paced(body, files), parser);
  } catch (cause) {
    fail(new TwtxtError("bad-request", "The form ended early. Send it again.", { cause }));
  }
  await files.onIdle();
  if (failure) throw failure;
}

function createParser(contentType: string): BusboyInstance {
  try {
    if (/^multipart\/form-data *;/i.test(contentType))
      return new Busboy({ headers: { "content-type": contentType }, limits: LIMITS, preservePath: true });
  } catch {
    // There is no boundary.
  }
  throw new TwtxtError("bad-request", "Send a form with files.");
}

/** Reads on only when no file waits for another: memory holds the files of one chunk at most. */
async function* paced(body: AsyncIterable<Uint8Array>, files: PQueue): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    yield chunk;
    await files.onSizeLessThan(1);
  }
}
