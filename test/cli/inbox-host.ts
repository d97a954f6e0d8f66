// test/cli/inbox-host.ts: what a host answers for a site with inboxes, with everything real but the store.
import type { HostSettings } from "../../plugin/eleventy/host-settings.js";
import { secretsOf } from "../../plugin/host/secrets.js";
import { servicesOf } from "../../plugin/host/services.js";
import { siteHost } from "../../plugin/host/site-host.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { loopbackConnector } from "../helpers/loopback.js";

export type Route = ReturnType<typeof siteHost>["route"];

export interface Hosting {
  store: StreamingStore;
  /** Whether readers can subscribe. */
  isStreaming: boolean;
  /** Milliseconds since 1970. */
  now(): number;
  /** Ends all subscriptions. */
  ending: AbortSignal;
}

export function routeOf(settings: HostSettings, { store, isStreaming, now, ending }: Hosting): Route {
  const files = { settings, pages: { feeds: [settings.feedUrl], pages: [], twts: [] } };
  return siteHost({
    files,
    pagesFile: "",
    read: async () => files,
    make: ({ settings, pages }) =>
      servicesOf({
        ...{ settings, pages, store, fetch, now, isMetered: false, isLive: true },
        secrets: secretsOf({}),
        authority: new URL(settings.url).host,
        client: "eleventy-plugin-twtxt/0",
        guard: { connector: loopbackConnector },
        log: () => {},
        purge: async () => {},
        streams: { isUsual: isStreaming, streamMs: 60_000, lookMs: 1000 },
        background: () => {},
        ending,
      }),
    log: () => {},
  }).route;
}
