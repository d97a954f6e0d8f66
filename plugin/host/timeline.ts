// plugin/host/timeline.ts: wires the timeline of a site.
import { TwtxtError } from "../errors.js";
import { CORS, publicJson } from "../http/public-json.js";
import { methodNotAllowed, optionsAnswer } from "../http/respond.js";
import { ROUTES } from "../site/routes.js";
import type { Handlers } from "./endpoints.js";
import type { ServiceOptions } from "./service-options.js";

/** Key of the stored list, as `GET /timeline.json` returns it. */
const LIST = "timeline/list";
const CDN = { tag: "twtxt-timeline", seconds: 900, parameters: [] };

const { methods } = ROUTES.timelineJson;

/** The handler and the job of the timeline. */
export function timelineServices(options: ServiceOptions) {
  const { settings, store } = options;
  const handlers: Handlers = {
    async timelineJson(request) {
      if (request.method === "OPTIONS") {
        return optionsAnswer(methods, { ...CORS, "access-control-allow-methods": methods.join(", ") });
      }
      if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed(methods);
      const stored = await store.get(LIST);
      if (!stored)
        throw new TwtxtError("not-found", "The followed feeds have not been read yet. Try again in an hour.");
      return publicJson(Buffer.from(stored.bytes).toString("utf8"), request, CDN);
    },
  };
  return {
    handlers,
    isOn: settings.timeline !== null,
    /** Reads the followed feeds, unless this was done a moment ago. */
    async refresh(): Promise<void> {
      const { refreshTimeline } = await import("./refresh-timeline.js");
      await refreshTimeline(options, { list: LIST, tag: CDN.tag });
    },
  };
}
