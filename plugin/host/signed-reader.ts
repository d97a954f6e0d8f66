// plugin/host/signed-reader.ts: reads requests that an author of the site has signed.
import { readBody } from "../http/respond.js";
import type { ReadSigned } from "../http/signed-route.js";
import { later } from "../later.js";
import type { ServiceOptions } from "./service-options.js";

const signatures = later(() => import("../http/signature.js"));

/** Verifies with code that is loaded at the first request: most requests are not signed. */
export function signedReader({
  settings,
  authority,
  store,
  now,
}: Pick<ServiceOptions, "settings" | "authority" | "store" | "now">): ReadSigned {
  return async (request, maxBytes) => {
    const { verifyRequest } = await signatures();
    const allowed = new Set(settings.authors.map(({ key }) => key));
    return (await verifyRequest(request, () => readBody(request, maxBytes), { authority, allowed, store, now })).body;
  };
}
