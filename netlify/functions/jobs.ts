// netlify/functions/jobs.ts: work that no request asks for. PROTOCOL 2.3, 6
import { siteServices } from "../../plugin/host/site-services.js";
import type { HostSettings, SitePages } from "../../plugin/site/site.js";
import { type Deploy, madeAt } from "../environment.js";

/** Sends the mentions of new posts once visitors see them. */
export function deploySucceeded(settings: HostSettings, pages: SitePages) {
  const services = madeAt(settings, pages, siteServices);
  return async ({ deploy }: { deploy: Deploy & { publishedAt: string | null } }): Promise<void> => {
    // A site may be set not to publish its deploys by itself. The scheduled run notices when its owner does.
    if (deploy.publishedAt !== null) await services(deploy).made.afterDeploy();
  };
}

/** The scheduled run. Netlify calls it for the published deploy alone. */
export function scheduled(settings: HostSettings, pages: SitePages) {
  const services = madeAt(settings, pages, siteServices);
  return async (_request: Request, { deploy }: { deploy: Deploy }): Promise<void> => {
    const { made, settled } = services({ ...deploy, published: true });
    await made.runScheduled();
    await settled();
  };
}
