// netlify/functions/mentions-api.ts: by which the author manages the mentions. PROTOCOL 2.5
import { answering } from "../answering.js";

export const mentionsApi = answering((services) => services.manageMentions);
