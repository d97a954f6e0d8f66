// plugin/host/site-guard.ts: the guard of a site, which names the site to the servers that it asks.
import { certificatePins } from "../http/certificate-pins.js";
import { type Ask, createGuard } from "../http/guard.js";
import type { ServiceOptions } from "./service-options.js";

export function siteGuard({ client, settings, guard, store, now }: ServiceOptions): Ask {
  return createGuard({
    userAgent: `${client} (+${settings.feedUrl}; @${settings.nick})`,
    checkCertificate: certificatePins(store, now),
    ownUrl: settings.feedUrl,
    ...guard,
  });
}
