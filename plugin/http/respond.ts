// plugin/http/respond.ts: how a handler answers, the same on every host.
import { statusOf, TwtxtError } from "../errors.js";

/** What a handler gets beside the request. */
export interface RequestContext {
  /** The client: an IPv4 address, or the first 64 bits of an IPv6 one, see `clientKey` of client-address.ts. */
  address: string;
  /** The segments of the path that the route names, as they stand in the URL. */
  params: Readonly<Record<string, string>>;
}

/** Runs on Netlify, on any Node host and in a test, unchanged. */
export type Handler = (request: Request, asked: RequestContext) => Promise<Response>;

/** Where trouble of our own is written down for the owner. */
export type Log = (line: string) => void;

/** Seconds after which a 429 or 503 may be tried again, where the error says nothing else. */
const RETRY_AFTER = "60";

/**
 * Turns what a handler throws into `application/problem+json`. What is not ours to say is masked, and logged.
 *
 * @see RFC 9457, PROTOCOL 6
 */
export function withProblemResponses(handler: Handler, log: Log): Handler {
  return async (request, asked) => {
    try {
      return await handler(request, asked);
    } catch (error) {
      if (error instanceof TwtxtError && statusOf(error.code) !== 500) {
        if (statusOf(error.code) >= 500) log(`A request could not be answered: ${error.message}`);
        return problem(error);
      }
      log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return problemOf(500, "internal", "Something is wrong on this side.");
    }
  };
}

/** What is no trouble inside, and told as it is. */
const TOLD: readonly string[] = ["inbox-full", "quota-exceeded"];

/** An error as an answer. */
export function problem(error: TwtxtError, headers: Record<string, string> = {}): Response {
  const status = statusOf(error.code);
  // What our storage has to say is for the owner's log, not for a stranger.
  const isOurs = status >= 500 && !TOLD.includes(error.code);
  const detail = isOurs ? "Something is wrong on this side. Try again later." : error.message;
  return problemOf(status, error.code, detail, headers);
}

function problemOf(status: number, code: string, detail: string, headers: Record<string, string> = {}): Response {
  return new Response(`${JSON.stringify({ status, code, detail })}\n`, {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...([429, 503].includes(status) && { "retry-after": RETRY_AFTER }),
      ...headers,
    },
  });
}

/** An answer in JSON. */
export function json(value: unknown, init: { status?: number; headers?: Record<string, string> } = {}): Response {
  return new Response(`${JSON.stringify(value)}\n`, {
    status: init.status ?? 200,
    headers: { "content-type": "application/json", ...init.headers },
  });
}

/** A line of text for people. */
export function line(text: string, init: { status?: number; headers?: Record<string, string> } = {}): Response {
  return new Response(`${text}\n`, {
    status: init.status ?? 200,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...init.headers },
  });
}

/** Whether who asks has this version already. A CDN that compresses an answer on its way makes its ETag a weak one. */
export function matchesEtag(request: Request, etag: string): boolean {
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known.includes(etag) || known.includes("*");
}

/** The answer to OPTIONS. */
export function optionsAnswer(methods: readonly string[], headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 204, headers: { allow: methods.join(", "), ...headers } });
}

/** The answer to a method that is not understood here. */
export function methodNotAllowed(allowed: readonly string[]): Response {
  const error = new TwtxtError("method-not-allowed", `Use ${allowed.join(", ")}.`);
  return problem(error, { allow: allowed.join(", ") });
}

/**
 * The body of a request, never larger than asked for.
 *
 * @throws TwtxtError `body-too-large`
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = new TwtxtError("body-too-large", `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
