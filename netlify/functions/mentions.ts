// netlify/functions/mentions.ts: receives, lists and manages mentions. PROTOCOL 2.4, 2.5
import { mentionServices } from "../../plugin/host/mentions.js";
import { endpointFunction } from "../endpoint-function.js";

export const mentions = endpointFunction((options, onStored) => mentionServices(options, onStored).handlers);
