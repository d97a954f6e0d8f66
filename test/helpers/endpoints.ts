// test/helpers/endpoints.ts: serves the handlers of a capability at their routes, as a host does.
import { createEndpoints, type Endpoint, type Handlers } from "../../plugin/host/endpoints.js";
import { type HttpRequest, type HttpResponse, type Log, toResponse } from "../../plugin/http/respond.js";
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
  return async (request: HttpRequest, address = "192.0.2.1"): Promise<Response> => {
    const found = await find(new URL(request.url).pathname)?.answer(request, address);
    return found ? toResponse(found) : new Response(null, { status: 404 });
  };
}

/** The response of a handler. */
export function fromResponse(response: Response | HttpResponse): HttpResponse {
  if (!(response instanceof Response)) return response;
  const { status, headers, body } = response;
  return { status, headers: Object.fromEntries(headers), body };
}

/** An endpoint for a server under test. */
export function endpoint(
  answer: (...asked: Parameters<Endpoint["answer"]>) => Promise<Response | HttpResponse>,
  rateLimit: Endpoint["rateLimit"] = null,
): Endpoint {
  const handler: Endpoint["answer"] = async (...asked) => fromResponse(await answer(...asked));
  return { name: "test", answer: handler, rateLimit, isStaticFirst: false };
}
