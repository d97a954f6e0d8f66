// netlify/functions/site.ts: tells the author the state of the site. PROTOCOL 5
import { siteStateHandlers } from "../../plugin/host/site-state.js";
import { endpointFunction } from "../endpoint-function.js";

export const site = endpointFunction((options) => siteStateHandlers(options));
