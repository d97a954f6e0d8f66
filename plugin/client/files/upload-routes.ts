// plugin/client/files/upload-routes.ts: receives files from the browser, also from a form without script, and pauses, resumes and cancels their uploads.
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { Hono } from "hono";
import PQueue from "p-queue";
import { counted } from "../../author/amounts.js";
import { filenameFrom } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import type { ClientEnv, ClientRequest, FormFields } from "../client-request.js";
import type { Notices } from "../notices.js";
import { PATH } from "./file-item.js";
import type { Upload, UploadChoice, Uploads, Visibility } from "./uploads.js";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const VISIBILITIES: readonly Visibility[] = ["private", "public", "sealed"];

export function uploadRoutes(uploads: Uploads, notices: Notices): Hono<ClientEnv> {
  const routes = new Hono<ClientEnv>();
  // For the form without script: any number of files.
  routes.post("/upload", (c) =>
    notices.act(c, PATH, async () => {
      const count = await addForm(c, uploads);
      return { text: `${counted(count, "file")} added to the uploads.` };
    }),
  );
  // For the script: the body is one file.
  routes.post("/add", async (c) => {
    const { name = "", id = "", ...fields } = c.req.query();
    if (!UUID.test(id)) throw new TwtxtError("bad-request", "Reload the page and choose the file again.");
    const size = Number(c.req.header("content-length"));
    const body = unclosed(readBody(c));
    if (!uploads.has(id)) await uploads.add({ ...readChoice(fields), filename: filenameFrom(name), size }, body, id);
    // If the connection ended before the answer, browsers would send the request again.
    for await (const _ of body);
    return c.body(null, 204);
  });
  routes.post("/uploads/clear", async (c) => {
    await uploads.clear();
    return c.redirect(PATH, 303);
  });
  routes.post("/uploads/:id/:action", (c) =>
    notices.act(c, PATH, async () => {
      const { id, action } = c.req.param();
      const known = ACTIONS.get(action);
      if (!known) throw new TwtxtError("not-found", "There is no such action.");
      const upload = uploads.find(id);
      known.run(upload, uploads);
      return { text: `${known.done} ${upload.choice.filename}.` };
    }),
  );
  return routes;
}

interface UploadAction {
  done: string;
  run(upload: Upload, uploads: Uploads): void;
}

const ACTIONS: ReadonlyMap<string, UploadAction> = new Map([
  ["pause", { done: "Paused", run: (upload) => upload.pause() }],
  ["resume", { done: "Resumed", run: (upload) => upload.resume() }],
  ["cancel", { done: "Cancelled", run: (upload) => upload.cancel() }],
  ["retry", { done: "Retrying", run: (upload, uploads) => uploads.retry(upload) }],
]);

/** @returns how many files it had @throws TwtxtError `bad-request` */
async function addForm(c: ClientRequest, uploads: Uploads): Promise<number> {
  let count = 0;
  await readForm(c.req.header("content-type") ?? "", readBody(c), async ({ filename, fields, chunks }) => {
    await uploads.add({ ...readChoice(fields), filename: filenameFrom(filename), size: null }, chunks);
    count += 1;
  });
  if (count === 0) throw new TwtxtError("bad-request", "No file was chosen. Choose one or more, then upload them.");
  return count;
}

/** The choices in the fields of the form; private by default. */
function readChoice({ visibility, clean }: FormFields): Pick<UploadChoice, "visibility" | "isCleaned"> {
  return { visibility: VISIBILITIES.find((one) => one === visibility) ?? "private", isCleaned: clean === "yes" };
}

/** @throws TwtxtError `bad-request` if the body was read for the CSRF token in it */
function readBody({ req: { raw } }: ClientRequest): AsyncIterable<Uint8Array> {
  if (raw.bodyUsed)
    throw new TwtxtError("bad-request", "Send the CSRF token in the query: files are read as they arrive.");
  return raw.body ?? noBytes();
}

/** Can be read by several loops: one that stops early leaves the rest for the next. */
function unclosed(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

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
