// plugin/host/guests.ts: wires the documents of guests' addresses.
import { guestDocument } from "../messages/inbox/guest-document.js";
import type { ServiceOptions } from "./service-options.js";

export function guestServices({ settings }: Pick<ServiceOptions, "settings">) {
  return { handlers: { guest: guestDocument(settings.urls.inbox) } };
}
