// netlify/functions/inbox.ts: takes in private messages, and hands them to their owner. PROTOCOL 3.3, 3.4
import { inboxServices } from "../../plugin/host/inbox-services.js";
import { canNotify } from "../../plugin/host/secrets.js";
import type { ServiceOptions } from "../../plugin/host/service-options.js";
import { answering } from "../answering.js";

export const inbox = answering((options) => {
  const onStored = () => {
    if (canNotify(options.secrets)) options.background(notifyAuthor(options));
  };
  return inboxServices({ ...options, onStored }).inbox;
});

/** The services of mentions are loaded when they are needed, so that the function starts fast. */
async function notifyAuthor(options: ServiceOptions): Promise<void> {
  try {
    const { servicesOf } = await import("../../plugin/host/services.js");
    await servicesOf(options).notifyAuthor();
  } catch (error) {
    options.log(`Notifying you failed and is tried again within the hour: ${(error as Error).message}`);
  }
}
