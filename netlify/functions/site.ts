// netlify/functions/site.ts: tells the author the state of the site, gives and takes its data, and takes readers' addresses. PROTOCOL 5
import { mentionServices } from "../../plugin/host/mentions.js";
import { siteDataHandlers } from "../../plugin/host/site-data.js";
import { siteStateHandlers } from "../../plugin/host/site-state.js";
import { endpointFunction } from "../endpoint-function.js";

export const site = endpointFunction((options, onStored) => ({
  ...siteStateHandlers(options),
  ...siteDataHandlers(options),
  ...mentionServices(options, onStored).handlers,
}));
