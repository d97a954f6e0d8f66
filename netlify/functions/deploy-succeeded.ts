// netlify/functions/deploy-succeeded.ts: tells those whom new posts mention, once the posts are to be seen. PROTOCOL 2.3
import type { HostSettings, SitePages } from "../../plugin/eleventy/host-settings.js";
import { servicesOf } from "../../plugin/host/services.js";
import { type Deploy, madeAt } from "../environment.js";

export function deploySucceeded(settings: HostSettings, pages: SitePages) {
  const services = madeAt(settings, pages, servicesOf);
  return async ({ deploy }: { deploy: Deploy & { publishedAt: string | null } }): Promise<void> => {
    // A site may be set to publish no deploy by itself. The scheduled function notices when its owner does.
    if (deploy.publishedAt !== null) await services(deploy).made.afterDeploy();
  };
}
