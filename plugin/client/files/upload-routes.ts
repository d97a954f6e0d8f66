// plugin/client/files/upload-routes.ts: receives files from the browser, also from a form without script, and pauses, resumes and cancels their uploads.
import { Hono } from "hono";
import { counted } from "../../author/amounts.js";
import { filenameFrom } from "../../blobs/metadata.js";
import { TwtxtError } from "../../errors.js";
import type { ClientEnv, FormFields } from "../client-request.js";
import type { Notices } from "../notices.js";
import { PATH } from "./file-item.js";
import type { Upload, UploadChoice, Uploads, Visibility } from "./uploads.js";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const VISIBILITIES: readonly Visibility[] = ["private", "public", "sealed"];

export function uploadRoutes(uploads: Uploads, notices: Notices): Hono<ClientEnv> {
  const routes = new Hono<ClientEnv>();
  // For the form without script: any number of files, in memory.
  routes.post("/upload", (c) =>
    notices.act(c, PATH, async () => {
      const form = await c.req.formData();
      const choice = readChoice({ visibility: String(form.get("visibility")), clean: String(form.get("clean")) });
      // Browsers send a file without a name if none was chosen.
      const files = form.getAll("file").filter((file) => file instanceof File && file.name !== "") as File[];
      if (files.length === 0)
        throw new TwtxtError("bad-request", "No file was chosen. Choose one or more, then upload them.");
      for (const file of files)
        await uploads.add({ ...choice, filename: filenameFrom(file.name), size: file.size }, file.stream());
      return { text: `${counted(files.length, "file")} added to the uploads.` };
    }),
  );
  // For the script: the body is one file.
  routes.post("/add", async (c) => {
    const { name = "", id = "", ...fields } = c.req.query();
    if (!UUID.test(id)) throw new TwtxtError("bad-request", "Reload the page and choose the file again.");
    const size = Number(c.req.header("content-length"));
    if (c.req.raw.bodyUsed) throw new TwtxtError("bad-request", "Send the CSRF token in the header.");
    const body = unclosed(c.req.raw.body ?? noBytes());
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
      const [done, run] = ACTIONS.get(action) ?? [];
      if (!run) throw new TwtxtError("not-found", "There is no such action.");
      const upload = uploads.find(id);
      await run(upload, uploads);
      return { text: `${done} ${upload.choice.filename}.` };
    }),
  );
  return routes;
}

type UploadAction = (upload: Upload, uploads: Uploads) => void | Promise<void>;

const ACTIONS = new Map<string, [done: string, run: UploadAction]>([
  ["pause", ["Paused", (upload) => upload.pause()]],
  ["resume", ["Resumed", (upload, uploads) => uploads.retry(upload)]],
  ["cancel", ["Cancelled", (upload, uploads) => uploads.cancel(upload)]],
  ["retry", ["Retrying", (upload, uploads) => uploads.retry(upload)]],
]);

/** The choices in the fields of the form; private by default. */
function readChoice({ visibility, clean }: FormFields): Pick<UploadChoice, "visibility" | "isCleaned"> {
  return { visibility: VISIBILITIES.find((one) => one === visibility) ?? "private", isCleaned: clean === "yes" };
}

/** Can be read by several loops: one that stops early leaves the rest for the next. */
function unclosed(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}
