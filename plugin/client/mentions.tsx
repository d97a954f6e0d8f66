// plugin/client/mentions.tsx: the room of mentions.
import { Hono } from "hono";
import type { ClientEnv } from "./client-env.js";
import type { CreateRoom } from "./room.js";

export const mentionsRoom: CreateRoom = () => {
  const routes = new Hono<ClientEnv>();
  routes.get("/", (c) => c.render(<p class="muted">No mentions are shown here yet.</p>, { title: "Mentions" }));
  return { title: "Mentions", path: "/mentions", keys: [], routes };
};
