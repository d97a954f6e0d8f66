// netlify/functions/mentions-feed.ts: the author's private feed of mentions. PROTOCOL 2.5
import { servicesOf } from "../../plugin/host/services.js";
import { answering } from "../answering.js";

export const mentionsFeed = answering((options) => servicesOf(options).mentionsFeed);
