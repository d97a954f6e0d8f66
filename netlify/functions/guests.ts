// netlify/functions/guests.ts: the documents of guests' addresses. PROTOCOL 3.5
import { guestDocument } from "../../plugin/messages/inbox/guest-document.js";
import { endpointFunction } from "../endpoint-function.js";

export const guests = endpointFunction(({ settings }) => ({ guest: guestDocument(settings.urls.inbox) }));
