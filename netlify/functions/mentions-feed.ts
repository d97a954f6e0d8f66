// netlify/functions/mentions-feed.ts: the author's private feed of mentions. PROTOCOL 2.5
import { answering } from "../answering.js";

export const mentionsFeed = answering((services) => services.mentionsFeed);
