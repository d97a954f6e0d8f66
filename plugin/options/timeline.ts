// plugin/options/timeline.ts: the option `timeline`.
import * as v from "valibot";
import { amount, layout, optional, optionalOr, sitePath } from "./value-types.js";

export const TIMELINE = v.strictObject(
  {
    path: optionalOr("The path of the page.", sitePath("/timeline/"), "/timeline/"),
    perPage: amount("Conversations per page.", 1, 200, 50),
    layout: optional("The layout of the page, if it is not that of the option `layout`.", layout),
  },
  'true, false, or an object such as { path: "/timeline/" }',
);

export type TimelineOptions = v.InferOutput<typeof TIMELINE>;

/** The option `timeline`, complete; `null` for a site without a timeline, or one that follows no feeds. */
export function timelineOptions({
  timeline,
  follow,
}: {
  timeline: false | TimelineOptions;
  follow: readonly unknown[];
}): TimelineOptions | null {
  return timeline !== false && follow.length > 0 ? timeline : null;
}
