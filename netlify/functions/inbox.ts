// netlify/functions/inbox.ts: takes in private messages, and hands them to their owner. PROTOCOL 3.3, 3.4
import { inboxServices } from "../../plugin/host/inbox-services.js";
import { answering } from "../answering.js";

export const inbox = answering((options) => inboxServices(options).inbox);
