// plugin/transport/fetch.ts: `fetch` for the author's own site, store and hooks, on the HTTP client of Node.js.
import type { IncomingMessage } from "node:http";
import { sendRequest } from "./http-client.js";

export type Fetch = typeof globalThis.fetch;

const BODILESS = [204, 205, 304];
const DEFAULTS = { accept: "*/*", "accept-encoding": "identity", "user-agent": "node" };

/**
 * Sends a request like the platform's `fetch`, which must not be used: see http-client.ts. It follows no redirects: their
 * responses are returned, or with `redirect: "error"` refused. A body must be read or cancelled, since garbage collection
 * does not close its connection.
 *
 * @throws TypeError with the cause, such as a status below 200 or above 599, or the reason of the aborted signal
 */
export const fetchSafely: Fetch = async (input, init = {}) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const { method = "GET", redirect, signal: givenSignal } = init;
  const signal = givenSignal ?? undefined;
  signal?.throwIfAborted();
  const content = await readContent(init.body ?? null);
  const headers = { ...DEFAULTS, ...content.headers, ...Object.fromEntries(new Headers(init.headers)) };
  let incoming: IncomingMessage | null = null;
  try {
    incoming = await sendRequest(url, { method, headers, body: content.body, signal });
    const { statusCode: status = 0, statusMessage: statusText = "" } = incoming;
    if (redirect === "error" && status >= 300 && status < 400 && incoming.headers.location !== undefined) {
      throw new Error("unexpected redirect");
    }
    const isBodiless = method === "HEAD" || BODILESS.includes(status);
    if (isBodiless) incoming.resume();
    const body = isBodiless ? null : streamBody(incoming, signal);
    // Repeated fields stay separate, because a joined `Set-Cookie` would be ambiguous.
    const fields = Object.entries(incoming.headersDistinct);
    const received = fields.flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value]));
    return new Response(body, { status, statusText, headers: received });
  } catch (error) {
    incoming?.destroy();
    throw failure("fetch failed", error, signal);
  }
};

/** The bytes or the stream of a request's body, with the headers that follow from its type. */
async function readContent(body: RequestInit["body"] | null) {
  if (body === null || body instanceof ReadableStream) return { body, headers: {} };
  const content = new Response(body);
  return { body: new Uint8Array(await content.arrayBuffer()), headers: Object.fromEntries(content.headers) };
}

function streamBody(incoming: IncomingMessage, signal: AbortSignal | undefined) {
  const chunks = incoming[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(failure("terminated", error, signal));
        }
      },
      cancel: () => void incoming.destroy(),
    },
    { highWaterMark: 0 },
  );
}

function failure(message: string, cause: unknown, signal: AbortSignal | undefined): unknown {
  return signal?.aborted ? signal.reason : new TypeError(message, { cause });
}
