// netlify/functions/blob.ts: keeps the authors' files, and shows the public ones to everybody. PROTOCOL 4
import { blobServices } from "../../plugin/host/blob-services.js";
import { answering } from "../answering.js";

export const blob = answering((options) => {
  const { own, shared } = blobServices(options);
  const apiPath = new URL(options.settings.urls.blobs).pathname;
  return (request) => (new URL(request.url).pathname.startsWith(apiPath) ? own : shared)(request);
});
