// plugin/client/files/upload-routes.ts: receives files from the browser, and pauses, resumes and cancels their uploads.
import { Hono } from "hono";
import { counted } from "../../author/amounts.js";
import { filenameFrom } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import type { ClientEnv, ClientRequest, FormFields } from "../client-request.js";
import type { Notices } from "../notices.js";
import { readForm } from "./multipart.js";
import { PATH } from "./paths.js";
import type { Upload, UploadChoice, Visibility } from "./upload.js";
import type { Uploads } from "./uploads.js";

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
      await known.run(upload, uploads);
      return { text: `${known.done} ${upload.choice.filename}.` };
    }),
  );
  return routes;
}

interface UploadAction {
  done: string;
  run(upload: Upload, uploads: Uploads): Promise<void> | void;
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
