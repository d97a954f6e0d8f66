// netlify/functions/mentions.ts: receives, lists and manages mentions. PROTOCOL 2.4, 2.5
import { mentionServices } from "../../plugin/host/mentions.js";
import { answering } from "../answering.js";

export const mentions = answering((options, onStored) => mentionServices(options, onStored).handlers);
