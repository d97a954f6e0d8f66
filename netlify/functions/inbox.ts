// netlify/functions/inbox.ts: receives private messages, and lists them for their owner. PROTOCOL 3.3, 3.4
import { inboxServices } from "../../plugin/host/inbox.js";
import { endpointFunction } from "../endpoint-function.js";

export const inbox = endpointFunction((options, onStored) => inboxServices(options, onStored).handlers);
