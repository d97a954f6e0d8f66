// plugin/http/signed-route.ts: a route of the authors, which answers nothing without a signature. PROTOCOL 5
import { type Handler, type HttpRequest, type HttpResponse, methodNotAllowed, type RequestContext } from "./respond.js";

/** Methods that require a signature, even on routes that do not allow them. */
const SIGNED_METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Reads the body of a request signed by an author. @throws TwtxtError `not-signed`, `not-allowed`, `body-too-large` */
export type ReadSigned = (request: HttpRequest, maxBytes: number) => Promise<Uint8Array>;

/**
 * Creates the handler of a route: other methods are refused after the signature, so that only authors learn which there are.
 *
 * @param maxBytes - of the body
 * @param work - answers a request with an allowed method
 */
export function signedRoute(
  { methods }: { methods: readonly string[] },
  { readSigned, maxBytes }: { readSigned: ReadSigned; maxBytes: number },
  work: (request: HttpRequest, body: Uint8Array, params: RequestContext["params"]) => Promise<HttpResponse>,
): Handler {
  return async (request, { params }) => {
    if (!SIGNED_METHODS.includes(request.method)) return methodNotAllowed(methods);
    const body = await readSigned(request, maxBytes);
    if (!methods.includes(request.method)) return methodNotAllowed(methods);
    return work(request, body, params);
  };
}
