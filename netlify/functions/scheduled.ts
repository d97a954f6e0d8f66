// netlify/functions/scheduled.ts: what is done every hour or so, and what a deploy may have left undone. PROTOCOL 6
import type { HostSettings, SitePages } from "../../plugin/eleventy/host-settings.js";
import { servicesOf } from "../../plugin/host/services.js";
import { type Deploy, madeAt } from "../environment.js";

export function scheduled(settings: HostSettings, pages: SitePages) {
  const services = madeAt(settings, pages, servicesOf);
  // Netlify keeps to the schedule of the published deploy alone.
  return async (_request: Request, { deploy }: { deploy: Deploy }): Promise<void> => {
    const { made, settled } = services({ ...deploy, published: true });
    await made.tick();
    await settled();
  };
}
