// plugin/client/health/health-room.tsx: the room of the site's health: what `doctor` finds, the last sends, data and versions.
import { Hono } from "hono";
import type { Finding } from "../../author/doctor/check.js";
import { checksOf } from "../../author/doctor/examine.js";
import { siteHealth } from "../../author/doctor/site-health.js";
import { TwtxtError } from "../../errors.js";
import { BackgroundRun } from "../background-run.js";
import type { ClientEnv } from "../client-env.js";
import type { ClientContext, CreateRoom } from "../room.js";
import { HEALTH, HealthPage } from "./health-pages.js";

export const healthRoom: CreateRoom = (context) => {
  const checkup = new BackgroundRun<Finding>(context);
  const routes = new Hono<ClientEnv>();
  routes.get("/", async (c) => {
    const health = await siteHealth(context.choice, context.machine);
    return c.render(<HealthPage health={health} checkup={checkup} />, { title: "Health" });
  });
  routes.post("/", (c) =>
    context.notices.act(c, HEALTH, async () => {
      await checkup.start(() => checksOfSite(context));
      return null;
    }),
  );
  return { title: "Health", path: HEALTH, keys: [{ key: "c", does: "checks the site" }], routes };
};

/** @throws TwtxtError `no-settings` */
async function checksOfSite({ choice, machine }: ClientContext): Promise<AsyncGenerator<Finding>> {
  const checks = await checksOf(null, { ...choice, address: undefined, flood: false }, machine);
  if (checks === null) throw new TwtxtError("no-settings", "There is no built site in this folder.");
  return checks;
}
