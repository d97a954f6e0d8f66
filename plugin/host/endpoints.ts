// plugin/host/endpoints.ts: hands each request to the handler of its route.
import { type Handler, type HttpRequest, type HttpResponse, type Log, withProblemResponses } from "../http/respond.js";
import { createRouter, type RateLimitKind, type RoutedSite, type RouteName, toCacheControl } from "../site/routes.js";

/** The handlers of one or all capabilities. {@link withProblemResponses} answers what they throw. */
export type Handlers = Partial<Record<RouteName, Handler>>;

export interface Endpoint {
  name: string;
  rateLimit: RateLimitKind | null;
  /** A file of the site at the same path is served instead. */
  isStaticFirst: boolean;
  /** @param address - of the client, as `clientKey` of client-key.ts returns it */
  answer(request: HttpRequest, address: string): Promise<HttpResponse>;
}

/** @returns a function that finds the endpoint of a normalised path; `null` if no handler answers there */
export function createEndpoints(site: RoutedSite, handlers: Handlers, log: Log): (path: string) => Endpoint | null {
  const find = createRouter(site);
  return (path) => {
    const match = find(path);
    const handler = match && handlers[match.name];
    if (!handler) return null;
    const { route, params } = match;
    const answer = withProblemResponses(handler, log);
    return {
      name: match.name,
      rateLimit: route.rateLimit ?? null,
      isStaticFirst: route.isStaticFirst ?? false,
      async answer(request, address) {
        const response = await answer(request, { address, params });
        if ("cache-control" in response.headers) return response;
        return { ...response, headers: { ...response.headers, "cache-control": toCacheControl(route) } };
      },
    };
  };
}
