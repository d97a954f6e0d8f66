// netlify/functions/mentions-json.ts: lists the mentions that are shown. PROTOCOL 2.4
import { answering } from "../answering.js";

export const mentionsJson = answering((services) => services.listMentions);
