// netlify/functions/guests.ts: the documents of guests' addresses. PROTOCOL 3.5
import { guestServices } from "../../plugin/host/guests.js";
import { endpointFunction } from "../endpoint-function.js";

export const guests = endpointFunction((options) => guestServices(options).handlers);
