// netlify/functions/mention.ts: receives mentions. PROTOCOL 2.4
import { answering } from "../answering.js";

export const mention = answering((services) => services.receiveMention);
