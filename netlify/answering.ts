// netlify/answering.ts: how a function of Netlify's hands a request to a handler.
import type { HostSettings, SitePages } from "../plugin/eleventy/host-settings.js";
import type { ServiceOptions } from "../plugin/host/service-options.js";
import { countedAs } from "../plugin/http/client-address.js";
import type { Handler } from "../plugin/http/respond.js";
import { type Deploy, madeAt } from "./environment.js";

/** @returns what a generated function calls with its site, and exports the outcome of */
export function answering(make: (options: ServiceOptions) => Handler) {
  return (settings: HostSettings, pages: SitePages) => {
    const handlers = madeAt(settings, pages, make);
    return (request: Request, { deploy, ip = "" }: { deploy: Deploy; ip?: string }): Promise<Response> =>
      handlers(deploy)(request, { address: countedAs(ip) });
  };
}
