// plugin/client/write/write-room.ts: the room to write in: drafts, the twt of a note, its post file, and publishing by git.
import { Hono } from "hono";
import { MentionableFeeds } from "../../author/notes/mentionable-feeds.js";
import { BackgroundRun } from "../background-run.js";
import type { ClientEnv } from "../client-request.js";
import type { CreateRoom } from "../room.js";
import { pictureFile, saveDraft, shareAndSave, sharePage, writePage } from "./composer-handlers.js";
import { assetResponse, builtPage, type SiteBuildRun } from "./on-your-site.js";
import { addOwnPosts } from "./own-posts.js";
import { MAX_UPLOAD_BYTES } from "./picture-fields.js";
import { endPublication, type PublicationRun, publicationPage, publishPage, runPublication } from "./publication.js";
import { openDrafts, WRITE_PATH } from "./write-requests.js";

const ICON = "M5 19l1-4.5L15.5 5l3.5 3.5L9.5 18zM13 7.5l3.5 3.5";

export const writeRoom: CreateRoom = (context) => {
  const routes = new Hono<ClientEnv>();
  const mentionable = new MentionableFeeds(context.choice, context.machine);
  const publication: PublicationRun = new BackgroundRun(context);
  const build: SiteBuildRun = new BackgroundRun(context);
  routes.get("/", (c) => writePage(c, { context, mentionable, build }));
  routes.post("/draft", (c) => saveDraft(c, { context, build }));
  routes.get("/page", (c) => builtPage(c, build, context));
  // The path of a parameter is decoded as far as it can be.
  routes.get("/site/:path{.+}", async (c) => assetResponse(c.req.param("path"), (await openDrafts(context)).site));
  context.notices.addForm(routes, "/delete", WRITE_PATH, async ({ id = "" }) => {
    await (await openDrafts(context)).drafts.delete(id);
    return { text: "The draft is deleted." };
  });
  routes.get("/picture/:draft/:name", (c) => pictureFile(c, context));
  routes.get("/share", (c) => sharePage(c, context));
  routes.post("/share", (c) => shareAndSave(c, context));
  addOwnPosts(routes, context);
  routes.get("/publish", (c) => publishPage(c, context));
  routes.post("/publish", (c) => runPublication(c, publication, context));
  routes.get("/publication", (c) => publicationPage(c, publication));
  const keys = [
    { key: "n", does: "goes to the text" },
    { key: "e", does: "edits the post" },
    { key: "d", does: "deletes the post, after a question" },
  ];
  return {
    ...{ title: "Write", path: WRITE_PATH, icon: ICON, keys, maxBodyBytes: MAX_UPLOAD_BYTES + 2 ** 20, routes },
    end: () => endPublication(publication, context),
  };
};
