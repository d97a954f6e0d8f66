// netlify/functions/site.ts: tells the author the state of the site, and gives and takes its data. PROTOCOL 5
import { siteDataHandlers } from "../../plugin/host/site-data.js";
import { siteStateHandlers } from "../../plugin/host/site-state.js";
import { endpointFunction } from "../endpoint-function.js";

export const site = endpointFunction((options) => ({ ...siteStateHandlers(options), ...siteDataHandlers(options) }));
