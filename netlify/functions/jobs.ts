// netlify/functions/jobs.ts: runs after a deploy and every hour. PROTOCOL 2.3, 6
import { siteServices } from "../../plugin/host/site-services.js";
import type { HostSettings, SitePages } from "../../plugin/site/site.js";
import { byPlace, type Deploy } from "../environment.js";

/** Sends the mentions of new posts once visitors see them. */
export function deploySucceeded(settings: HostSettings, pages: SitePages) {
  const services = byPlace(settings, pages, siteServices);
  return async ({ deploy }: { deploy: Deploy & { publishedAt: string | null } }): Promise<void> => {
    // `null`: the owner has turned off auto publishing. The scheduled run sends after the owner publishes the deploy.
    if (deploy.publishedAt !== null) await services(deploy).value.afterDeploy();
  };
}

/** The scheduled run. Netlify calls it only for the published deploy. */
export function scheduled(settings: HostSettings, pages: SitePages) {
  const services = byPlace(settings, pages, siteServices);
  return async (_request: Request, { deploy }: { deploy: Deploy }): Promise<void> => {
    const { value, settled } = services({ ...deploy, published: true });
    await value.runScheduled();
    await settled();
  };
}
