// netlify/functions/timeline.ts: the timeline as JSON.
import { timelineServices } from "../../plugin/host/timeline.js";
import { endpointFunction } from "../endpoint-function.js";

export const timeline = endpointFunction((options) => timelineServices(options).handlers);
