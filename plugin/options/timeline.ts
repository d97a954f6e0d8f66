// plugin/options/timeline.ts: the option `timeline`.
import * as v from "valibot";
import { amount, layout, sitePath } from "./value-types.js";

/** See docs/timeline.md, Options. */
export const TIMELINE = v.strictObject(
  {
    path: v.optional(sitePath("/timeline/"), "/timeline/"),
    perPage: amount(1, 200, 50),
    layout: v.optional(layout),
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
