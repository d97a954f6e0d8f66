// netlify/functions/mentions-json.ts: lists the mentions that are shown. PROTOCOL 2.4
import { servicesOf } from "../../plugin/host/services.js";
import { answering } from "../answering.js";

export const mentionsJson = answering((options) => servicesOf(options).listMentions);
