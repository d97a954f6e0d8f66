// plugin/client/write/write-room.ts: the room to write in: drafts, the twt of a note, its post file, and publishing by git.
import { Hono } from "hono";
import type { ClientEnv } from "../client-env.js";
import type { CreateRoom } from "../room.js";
import { deleteDraft, saveDraft, writePage } from "./composer.js";
import { WRITE_PATH } from "./paths.js";
import { publishPage, runPublication } from "./publication.js";

export const writeRoom: CreateRoom = (context) => {
  const routes = new Hono<ClientEnv>();
  routes.get("/", (c) => writePage(c, context));
  routes.post("/draft", (c) => saveDraft(c, context));
  routes.post("/delete", (c) => deleteDraft(c, context));
  routes.get("/publish", (c) => publishPage(c, context));
  routes.post("/publish", (c) => runPublication(c, context));
  return { title: "Write", path: WRITE_PATH, keys: [{ key: "n", does: "goes to the text" }], routes };
};
