// plugin/http/respond.ts: handlers, how they read requests and how they respond, on every host.
import * as v from "valibot";
import { TwtxtError, toStatus } from "../errors.js";
import { type Chunks, concatChunks, limitSize } from "../store/chunks.js";

/** What a handler gets in addition to the request. */
export interface RequestContext {
  /** The client: an IPv4 address, or the first 64 bits of an IPv6 one, see `clientKey` of host/client-key.ts. */
  address: string;
  /** The path segments of the route's parameters, as written in the URL. */
  params: Readonly<Record<string, string>>;
}

/** The headers of a request, by lower-cased name. */
export type RequestHeaders = Pick<Headers, "get" | "has">;

/** What conditions and ranges need from a request. */
export interface ConditionalRequest extends Pick<Request, "method"> {
  readonly headers: RequestHeaders;
}

/** What handlers need from a request. A `Request` has all of it, but costs a server a tenth of its processor time. */
export interface HttpRequest extends ConditionalRequest, Pick<Request, "url"> {
  /** May be read once. */
  readonly body: Chunks | null;
}

/** What a handler answers. A `Response` with its stream costs a server as much as a `Request`. */
export interface HttpResponse {
  status: number;
  /** By lower-cased name. */
  headers: Record<string, string>;
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
}

/** The same for hosts that send a `Response`. */
export function toResponse({ body, ...init }: HttpResponse): Response {
  return new Response(body as ConstructorParameters<typeof Response>[0], init);
}

/** Answers requests on Netlify, on any Node host and in tests. */
export type Handler = (request: HttpRequest, asked: RequestContext) => Promise<HttpResponse>;

/** How serious a log line is, and the request that it is about. */
export interface LogContext {
  /** Default `info`. */
  level?: "info" | "warn" | "error";
  /** The path has no query, which may be secret. */
  request?: { method: string; path: string };
}

export type Log = (line: string, context?: LogContext) => void;

/** Parses the JSON of a body. @throws TwtxtError `bad-request`, with what is expected */
export function parseBody<T>(schema: v.GenericSchema<unknown, T>, body: Uint8Array, expected: string): T {
  try {
    return v.parse(schema, JSON.parse(new TextDecoder().decode(body)));
  } catch (cause) {
    throw new TwtxtError("bad-request", expected, { cause });
  }
}

/** Default `Retry-After` of 429 and 503, in seconds. */
const RETRY_AFTER = "60";

/**
 * Turns a handler's errors into `application/problem+json`. Internal errors are logged and masked.
 *
 * @see RFC 9457, PROTOCOL 6
 */
export function withProblemResponses(handler: Handler, log: Log): Handler {
  return async (request, asked) => {
    try {
      return await handler(request, asked);
    } catch (error) {
      const context = {
        level: "error",
        request: { method: request.method, path: new URL(request.url).pathname },
      } as const;
      if (error instanceof TwtxtError && (toStatus(error.code) !== 500 || PUBLIC_ERRORS.includes(error.code))) {
        if (toStatus(error.code) >= 500) log(`A request failed: ${error.message}`, context);
        return problem(error);
      }
      log(error instanceof Error ? (error.stack ?? error.message) : String(error), context);
      return createProblem(500, "internal", "Internal error.");
    }
  };
}

/** Errors with a status from 500 whose message is meant for the client. */
const PUBLIC_ERRORS: readonly string[] = ["inbox-full", "quota-exceeded", "blob-damaged"];

export function problem(error: TwtxtError, headers: Record<string, string> = {}): HttpResponse {
  const status = toStatus(error.code);
  const isInternal = status >= 500 && !PUBLIC_ERRORS.includes(error.code);
  const detail = isInternal ? "Internal error. Try again later." : error.message;
  return createProblem(status, error.code, detail, headers);
}

function createProblem(
  status: number,
  code: string,
  detail: string,
  headers: Record<string, string> = {},
): HttpResponse {
  return {
    status,
    body: `${JSON.stringify({ status, code, detail })}\n`,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...([429, 503].includes(status) && { "retry-after": RETRY_AFTER }),
      ...headers,
    },
  };
}

export function json(value: unknown, init: { status?: number; headers?: Record<string, string> } = {}): HttpResponse {
  const headers = { "content-type": "application/json", ...init.headers };
  return { status: init.status ?? 200, headers, body: `${JSON.stringify(value)}\n` };
}

export function line(text: string, status = 200): HttpResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return { status, headers, body: `${text}\n` };
}

/** Leads a browser to a page after a form. */
export function redirect(location: string, headers: Record<string, string> = {}): HttpResponse {
  return { status: 303, headers: { location, ...headers }, body: null };
}

/** Whether `If-None-Match` names this version. Weak ETags match too: a CDN that compresses a response weakens its ETag. */
export function matchesEtag(request: Pick<ConditionalRequest, "headers">, etag: string): boolean {
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known.includes(etag) || known.includes("*");
}

/**
 * Calls a handler only for the methods of its route: answers OPTIONS, if the route has it, and other methods with 405. The
 * answer to HEAD has no body.
 */
export function allowing(methods: readonly string[], handler: Handler, headers: Record<string, string> = {}): Handler {
  return async (request, asked) => {
    if (!methods.includes(request.method)) return methodNotAllowed(methods);
    if (request.method === "HEAD") return { ...(await handler(request, asked)), body: null };
    if (request.method !== "OPTIONS") return handler(request, asked);
    return { status: 204, headers: { allow: methods.join(", "), ...headers }, body: null };
  };
}

export function methodNotAllowed(allowed: readonly string[]): HttpResponse {
  const error = new TwtxtError("method-not-allowed", `Use ${allowed.join(", ")}.`);
  return problem(error, { allow: allowed.join(", ") });
}

/** Reads the body of a request, up to a limit. @throws TwtxtError `body-too-large` */
export async function readBody(request: HttpRequest, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new TwtxtError("body-too-large", `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  return concatChunks(limitSize(request.body ?? [], maxBytes, tooLarge));
}

/** The type of a form that a browser sends. */
export const FORM = "application/x-www-form-urlencoded";

/** @throws TwtxtError `bad-content-type` for a body of another type, and for a compressed one */
export function checkType({ headers }: Pick<HttpRequest, "headers">, types: readonly string[]): void {
  if (types.includes(readEssence(headers.get("content-type"))) && !headers.has("content-encoding")) return;
  throw new TwtxtError("bad-content-type", `Send ${types.join(" or ")}, without a Content-Encoding.`);
}

/** The media type of a `Content-Type` in lower case, without parameters; empty if there is none. */
export function readEssence(contentType: string | null | undefined): string {
  const [essence = ""] = (contentType ?? "").split(";");
  return essence.trim().toLowerCase();
}

/**
 * Parses the query parameters of a URL.
 *
 * @throws TwtxtError `bad-request` for an unknown, empty or repeated parameter
 */
export function parseParameters<Name extends string>(
  url: string,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const parameters = [...new URL(url).searchParams];
  const keys = parameters.map(([key]) => key);
  const isWrong = ([key, value]: [string, string], i: number) =>
    !names.some((name) => name === key) || keys.indexOf(key) !== i || value === "";
  if (parameters.some(isWrong)) {
    throw new TwtxtError("bad-request", `The parameters are ${names.join(", ")}, each once and not empty.`);
  }
  return Object.fromEntries(parameters) as Partial<Record<Name, string>>;
}

/**
 * Parses the parameter `limit`. Only one spelling of a number is accepted, so that a CDN caches each page once.
 *
 * @param standard - the default
 * @throws TwtxtError `bad-request`
 */
export function parseLimit(text: string | undefined, most: number, standard = most): number {
  if (text === undefined) return standard;
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= most) return Number(text);
  throw new TwtxtError("bad-request", `"limit" must be a number from 1 to ${most}.`);
}

/** Whether a client is a browser: it names HTML before anything else. */
export function isBrowser(request: HttpRequest): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(request.headers.get("accept") ?? "");
}

/** Answers a person. A mistake of the person becomes a page. @throws errors of the site */
export async function answerPerson(
  answer: () => Promise<HttpResponse>,
  refuse: (error: TwtxtError) => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof TwtxtError && toStatus(error.code) < 500) return refuse(error);
    throw error;
  }
}
