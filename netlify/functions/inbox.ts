// netlify/functions/inbox.ts: receives private messages, and hands them to their owner. PROTOCOL 3.3, 3.4
import { inboxServices } from "../../plugin/host/inbox.js";
import { answering } from "../answering.js";

export const inbox = answering((options, onStored) => inboxServices(options, onStored).handlers);
