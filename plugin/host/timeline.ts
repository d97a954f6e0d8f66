// plugin/host/timeline.ts: wires the timeline of a site.
import { TwtxtError } from "../errors.js";
import type { KeptFeed } from "../http/followed-feeds.js";
import { publicList } from "../http/public-list.js";
import { later } from "../later.js";
import { ROUTES } from "../site/routes.js";
import type { Handlers } from "./endpoints.js";
import type { ServiceOptions } from "./service-options.js";

const refresher = later(() => import("./refresh-timeline.js"));

/** Key of the stored list, as `GET /timeline.json` returns it. */
const LIST = "timeline/list";
const PUBLIC = { type: "application/json", tag: "twtxt-timeline", seconds: 900, parameters: [] };

export function timelineServices(options: ServiceOptions) {
  const { settings, store } = options;
  const handlers: Handlers = {
    timelineJson: publicList(ROUTES.timelineJson.methods, PUBLIC, async () => {
      const stored = await store.get(LIST);
      if (stored) return Buffer.from(stored.bytes).toString("utf8");
      throw new TwtxtError("not-found", "The followed feeds have not been read yet. Try again in an hour.");
    }),
  };
  return {
    handlers,
    /** The followed feeds as they were last read; none without a timeline. */
    async keptFeeds(): Promise<KeptFeed[]> {
      return settings.timeline === null ? [] : (await refresher()).readKeptFeeds(store);
    },
    /** Reads the followed feeds, unless this was done a moment ago. */
    async refresh(): Promise<void> {
      const { refreshTimeline } = await refresher();
      await refreshTimeline(options, { list: LIST, tag: PUBLIC.tag });
    },
  };
}
