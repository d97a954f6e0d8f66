// test/helpers/endpoints.ts: serves the handlers of a capability at their routes, as a host does.
import { createEndpoints, type Endpoint, type Handlers } from "../../plugin/host/endpoints.js";
import type { HttpRequest, Log } from "../../plugin/http/respond.js";
import { type Bases, completeBases } from "../../plugin/site/routes.js";

/**
 * @param others - the base URLs that differ from the default paths
 * @returns the responses of a host; 404 where no route has a handler
 */
export function hostAt(origin: string, handlers: Handlers, log: Log = () => {}, others: Partial<Bases> = {}) {
  const bases = Object.entries(completeBases({ webmention: "/webmention", inbox: "/inbox" }));
  const urls = { ...(Object.fromEntries(bases.map(([name, path]) => [name, origin + path])) as Bases), ...others };
  const find = createEndpoints(
    {
      urls,
      isReceiver: true,
      authors: [{}],
      timeline: {},
      mentions: { comments: { mail: true } },
      inbox: { guests: {} },
      blobs: {},
    },
    handlers,
    log,
  );
  return async (request: HttpRequest, address = "192.0.2.1"): Promise<Response> =>
    find(new URL(request.url).pathname)?.answer(request, address) ?? new Response(null, { status: 404 });
}

/** An endpoint for a server under test. */
export function endpoint(answer: Endpoint["answer"], rateLimit: Endpoint["rateLimit"] = null): Endpoint {
  return { name: "test", answer, rateLimit, isStaticFirst: false };
}
