// netlify/functions/blobs.ts: keeps the authors' files, and shares the public ones. PROTOCOL 4
import { blobServices } from "../../plugin/host/blobs.js";
import { answering } from "../answering.js";

export const blobs = answering((options) => blobServices(options).handlers);
