// plugin/host/site-guard.ts: the guard of a site, which names the site to the servers that it asks.
import { type Ask, createGuard } from "../http/guard.js";
import type { ServiceOptions } from "./service-options.js";

/** The guard for the requests of a site to other servers. */
export function siteGuard({ client, settings, guard }: ServiceOptions): Ask {
  return createGuard({ userAgent: `${client} (+${settings.feedUrl}; @${settings.nick})`, ...guard });
}
