// netlify/functions/mention.ts: receives mentions. PROTOCOL 2.4
import { servicesOf } from "../../plugin/host/services.js";
import { answering } from "../answering.js";

export const mention = answering((options) => servicesOf(options).receiveMention);
