// netlify/answering.ts: how a function of Netlify's hands a request to a handler.
import type { HostSettings, SitePages } from "../plugin/eleventy/host-settings.js";
import type { Services } from "../plugin/host/services.js";
import { countedAs } from "../plugin/http/client-address.js";
import type { Handler } from "../plugin/http/respond.js";
import { type Deploy, servicesAt } from "./environment.js";

/** @returns what a generated function calls with its site, and exports the outcome of */
export function answering(handlerOf: (services: Services) => Handler) {
  return (settings: HostSettings, pages: SitePages) => {
    const services = servicesAt(settings, pages);
    return (request: Request, { deploy, ip }: { deploy: Deploy; ip?: string }): Promise<Response> =>
      handlerOf(services(deploy))(request, { address: countedAs(ip ?? "") });
  };
}
