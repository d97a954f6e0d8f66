// plugin/client/health/health-room.tsx: the room of the site's health: what `doctor` finds, the last sends, data and versions.

import { Hono } from "hono";
import { siteHealth } from "../../author/site-health.js";
import type { ClientEnv } from "../client-env.js";
import type { CreateRoom } from "../room.js";
import { Checkup } from "./checkup.js";
import { HEALTH, HealthPage } from "./health-pages.js";

export const healthRoom: CreateRoom = (context) => {
  const checkup = new Checkup(context);
  const routes = new Hono<ClientEnv>();
  routes.get("/", async (c) => {
    const health = await siteHealth(context.choice, context.machine);
    return c.render(<HealthPage health={health} checkup={checkup} />, { title: "Health" });
  });
  routes.post("/", (c) =>
    context.notices.act(c, HEALTH, async () => {
      await checkup.start();
      return { text: "The check has started. What it finds appears below." };
    }),
  );
  return { title: "Health", path: HEALTH, keys: [{ key: "c", does: "checks the site" }], routes };
};
