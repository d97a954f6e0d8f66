// netlify/functions/blobs.ts: stores the authors' blobs, and shares the public ones. PROTOCOL 4
import { blobServices } from "../../plugin/host/blobs.js";
import { endpointFunction } from "../endpoint-function.js";

export const blobs = endpointFunction((options) => blobServices(options).handlers);
