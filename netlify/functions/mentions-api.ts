// netlify/functions/mentions-api.ts: by which the author manages the mentions. PROTOCOL 2.5
import { servicesOf } from "../../plugin/host/services.js";
import { answering } from "../answering.js";

export const mentionsApi = answering((options) => servicesOf(options).manageMentions);
