// plugin/client/files/files-room.tsx: the room of files: the author's blobs, uploads, and verification.
import { Hono } from "hono";
import { deleteBlob, describeDamage, verifyBlobs, visibility } from "../../author/blobs/blob-site.js";
import { countFormerBlobs, type MovedBlob, moveBlobs } from "../../author/blobs/received-file.js";
import { WorkFolder } from "../../author/files.js";
import type { Outcome } from "../../author/outcome.js";
import { shortKey } from "../../blobs/blob.js";
import type { MetadataChange } from "../../blobs/client/own-blobs.js";
import { TwtxtError } from "../../errors.js";
import { isBlobKey } from "../../site/routes.js";
import { BackgroundRun } from "../background-run.js";
import { type ClientEnv, type ClientRequest, downloadResponse, pictureResponse } from "../client-request.js";
import type { ClientContext, CreateRoom, KeyHelp } from "../notices.js";
import { chooseName, DeleteQuestion, EditForm, PATH, PublicQuestion } from "./file-item.js";
import { FilesPage, type VerificationRun } from "./files-page.js";
import { StoredFiles } from "./stored-files.js";
import { uploadRoutes } from "./upload-routes.js";
import { Uploads } from "./uploads.js";

const ICON = "M3.5 19V5.5h6l2 2.5h9v11z";

/** The largest blob that a site can be configured to accept is 10,000 MiB. */
const MAX_BODY_BYTES = 10_001 * 2 ** 20;

const KEYS: readonly KeyHelp[] = [
  { key: "a", does: "chooses files to upload" },
  { key: "s", does: "pauses or resumes an upload" },
  { key: "c", does: "cancels an upload" },
  { key: "m", does: "copies Markdown for a post" },
  { key: "l", does: "copies the link of a public file" },
  { key: "d", does: "downloads a file" },
  { key: "p", does: "makes a file public or private" },
  { key: "e", does: "renames a file" },
  { key: "x", does: "deletes a file" },
  { key: "v", does: "verifies all files" },
];

interface Parts {
  context: ClientContext;
  files: StoredFiles;
  uploads: Uploads;
  run: VerificationRun;
  moving: BackgroundRun<MovedBlob>;
}

export const filesRoom: CreateRoom = (context) => {
  const folder = new WorkFolder(context.machine, context.ending);
  folder.clearOthers().catch((error: Error) => context.machine.say(error.message));
  const files = new StoredFiles(context, folder);
  const uploads = new Uploads({ ...context, folder, onStored: () => files.changed() });
  const run: VerificationRun = new BackgroundRun(context);
  const moving = new BackgroundRun<MovedBlob>(context);
  const parts = { context, files, uploads, run, moving };
  const routes = new Hono<ClientEnv>();
  addPages(routes, parts);
  addActions(routes, parts);
  routes.route("/", uploadRoutes(uploads, context.notices));
  return { title: "Files", path: PATH, icon: ICON, keys: KEYS, maxBodyBytes: MAX_BODY_BYTES, routes };
};

function addPages(routes: Hono<ClientEnv>, { context, files, uploads, run, moving }: Parts): void {
  routes.get("/", async (c) => {
    const site = await files.site();
    const after = c.req.query("after") ?? "";
    const listing = await files.listing(after);
    const { list } = listing;
    if (listing.fault === null && !listing.isReading) uploads.removeStored();
    const older = list && list.next !== null ? `${PATH}?after=${list.next}` : null;
    const pages = { newer: after === "" ? null : PATH, older };
    // A site that does not answer is not asked a second time.
    const former = listing.fault === null && !listing.isReading ? await countFormerBlobs(site, context.machine) : [];
    return c.render(<FilesPage {...{ site, listing, pages, files, uploads, run, former, moving }} />, {
      title: "Files",
    });
  });
  const find = async (c: ClientRequest) => (await (await files.site()).blobs.find(readKey(c))).blob;
  routes.get("/public/:key", async (c) =>
    c.render(<PublicQuestion blob={await find(c)} />, { title: "Make this file public?" }),
  );
  // Also for a file that is not as the author stored it.
  routes.get("/delete/:key", async (c) =>
    c.render(<DeleteQuestion blob={await files.find(readKey(c))} />, { title: "Delete this file?" }),
  );
  routes.get("/edit/:key", async (c) => c.render(<EditForm blob={await find(c)} />, { title: "Rename a file" }));
  routes.get("/picture/:key", async (c) => {
    const preview = await files.preview(readKey(c));
    return preview === null ? c.body(null, 204) : pictureResponse({ type: preview.type, body: preview.bytes });
  });
  routes.get("/get/:key", async (c) => downloadResponse(await files.download(readKey(c))));
}

function addActions(routes: Hono<ClientEnv>, { context, files, run, moving }: Parts): void {
  const { notices, machine } = context;
  const add = (path: string, action: Parameters<typeof notices.addForm>[3]) =>
    notices.addForm(routes, path, PATH, (form, c) => action(form, c).finally(() => files.changed()));
  const change = async (key: string, changes: MetadataChange): Promise<Outcome> => {
    const { blob, note } = await (await files.site()).blobs.change(key, changes);
    files.changed();
    const text = `${chooseName(blob)} is ${visibility(blob)}. ${note ?? ""}`.trim();
    return changes.isPublic ? { text, undo: () => change(key, { isPublic: false }) } : { text };
  };

  add("/public/:key", (_, c) => change(readKey(c), { isPublic: true }));
  add("/private/:key", (_, c) => change(readKey(c), { isPublic: false }));
  add("/edit/:key", ({ filename = "", type = "" }, c) => change(readKey(c), { filename, type }));
  add("/delete/:key", async (_, c) => {
    const key = readKey(c);
    const name = await files.find(key).then(
      (blob) => chooseName(blob),
      () => shortKey(key),
    );
    const { removed, note } = await deleteBlob(key, (await files.site()).blobs);
    return { text: `${removed ? `${name} is deleted.` : `There is no file ${name}.`} ${note ?? ""}`.trim() };
  });
  add("/move", async () => {
    const site = await files.site();
    const results = moveBlobs(await countFormerBlobs(site, machine), site, machine);
    await moving.start(async () => ({ subject: null, results }));
    void moving.done.then(() => files.changed());
    return { text: "Moving your files." };
  });
  add("/verify", async () => {
    const { count, verifications, damaged } = await verifyBlobs(await files.site(), null);
    const subject = { count, damaged: describeDamage(damaged, machine) };
    await run.start(async () => ({ subject, results: verifications }));
    return { text: "Verifying your files." };
  });
}

/** @throws TwtxtError `not-found` */
function readKey(c: ClientRequest): string {
  const key = c.req.param("key") ?? "";
  if (!isBlobKey(key)) throw new TwtxtError("not-found", "There is no such file.");
  return key;
}
