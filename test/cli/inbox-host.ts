// test/cli/inbox-host.ts: the endpoints of a host for a site with inboxes, all real except for the store.
import { SiteHost } from "../../plugin/host/site-host.js";
import { siteServices } from "../../plugin/host/site-services.js";
import type { HostSettings } from "../../plugin/site/site.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { loopbackRoute } from "../helpers/loopback.js";

export type EndpointAt = SiteHost["findEndpoint"];

export interface HostOptions {
  store: StreamingStore;
  /** Whether readers can subscribe. */
  isStreaming: boolean;
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends all subscriptions. */
  ending: AbortSignal;
}

export function endpointsAt(settings: HostSettings, { store, isStreaming, now, ending }: HostOptions): EndpointAt {
  const site = { settings, pages: { feeds: [settings.feedUrl], pages: [], twts: [] } };
  return new SiteHost({
    site,
    file: "",
    read: async () => site,
    make: ({ settings, pages }) =>
      siteServices({
        ...{ settings, pages, store, now, isMetered: false, isLive: true },
        environment: {},
        authority: new URL(settings.url).host,
        client: "eleventy-plugin-twtxt/0",
        guard: { route: loopbackRoute },
        log: () => {},
        purge: async () => {},
        streams: { isDefault: isStreaming, streamMs: 60_000, lookMs: 1000 },
        background: () => {},
        ending,
      }),
    log: () => {},
  }).findEndpoint;
}
