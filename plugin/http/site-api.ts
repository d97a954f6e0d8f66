// plugin/http/site-api.ts: client of the author's own site, with signed requests. PROTOCOL 5
import type { Clock } from "../clock.js";
import { TwtxtError, type TwtxtErrorCode } from "../errors.js";
import { concatChunks, limitSize } from "../store/chunks.js";
import { type Fetch, fetchSafely } from "../transport/fetch.js";
import { isReset } from "../transport/http-client.js";
import { IdleLimit } from "../transport/idle-limit.js";
import { readProblem } from "./one-line.js";
import { type Signer, signRequest } from "./sign-request.js";
import { SiteClock } from "./site-clock.js";

interface StreamedBody {
  /** In bytes. */
  size: number;
  /** 32 bytes. */
  sha256: Uint8Array;
  /** Called again if the request is signed again. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface SiteRequest {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The path below the root of the API. */
  path: string;
  headers?: Record<string, string>;
  body?: Uint8Array | StreamedBody;
  /** Statuses that are not errors, in addition to 200 to 299. */
  expected?: readonly number[];
  signal?: AbortSignal;
}

export interface SiteAnswer {
  status: number;
  headers: Headers;
  /** The body as a stream; can be read once. @throws TwtxtError `unreachable` if it ends early */
  chunks(): AsyncIterable<Uint8Array>;
  /** The whole body. @throws TwtxtError `unreachable`; `too-large` over 8 MiB */
  text(): Promise<string>;
  /** The body as JSON. @throws TwtxtError as {@link text}, and `unreachable` for anything but JSON */
  json(): Promise<unknown>;
  /** Closes the connection of a body that is not read to its end. */
  close(): void;
}

/**
 * Sends a request to the site.
 *
 * @throws TwtxtError `not-signed`, `not-allowed`, `not-found`, `precondition-failed`, `precondition-required`,
 *   `body-too-large`, `quota-exceeded` or `bad-request`, by the status; `unreachable` without a response of the API; errors
 *   of a streamed body
 */
export type AskSite = (request: SiteRequest) => Promise<SiteAnswer>;

export interface SiteApiOptions {
  /** The URL of the API without a trailing slash. */
  root: string;
  signer: Signer;
  now: Clock;
  /** Tells the author that the clocks differ, in a sentence. */
  warn?(sentence: string): void;
  /** Advice if the site has no such API, a sentence; default: to deploy it. */
  missing?: string;
  signal?: AbortSignal;
  /** Time without any data sent or received, in milliseconds; default 70,000. */
  idleTimeoutMs?: number;
  /** Default: without the guard, because the author's own site is trusted. */
  fetch?: Fetch;
}

const IDLE_TIMEOUT_MS = 70_000;
const MAX_JSON_BYTES = 8 * 2 ** 20;

/** The error code for a status, and what to do about it. */
const REFUSALS: Record<number, { code: TwtxtErrorCode; advice: string }> = {
  401: { code: "not-signed", advice: " With --url, check that `serve` was started with the same URL." },
  403: { code: "not-allowed", advice: ' The site has a different key: check its option "key", and deploy.' },
  404: { code: "not-found", advice: "" },
  408: { code: "unreachable", advice: "" },
  412: { code: "precondition-failed", advice: "" },
  428: { code: "precondition-required", advice: "" },
  413: { code: "body-too-large", advice: "" },
  429: { code: "unreachable", advice: " That is its rate limit. Wait a minute, then try again." },
  507: { code: "quota-exceeded", advice: "" },
};

const NOT_DEPLOYED =
  "Build and deploy the site: on Netlify with its functions, on your own server with `eleventy-twtxt serve`.";
const SERVER_FAULT = " Try again later. The log of its server says why.";

/** Advice by the error of a request without an answer. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, "Check that the site is running, or name its address with --url."],
  [
    /^(ENOTFOUND|EAI_)/,
    'Check the network of this machine. If it works, check the domain: it is in the option "url" of the plugin.',
  ],
  [
    /TIMED?OUT|UNREACH|ENETDOWN|^no data for /,
    "Check the network of this machine, and that the site is running. Then try again.",
  ],
  [/redirect/, "Name the address that it redirects to with --url, without a path."],
  [/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/, "Renew the certificate of the site at its host."],
  [
    /^its answer is not JSON$/,
    "Something else answers there: open the address in a browser. It may be the login page of a network, or another server.",
  ],
];

export function siteApi(options: SiteApiOptions): AskSite {
  const { root, now, missing = NOT_DEPLOYED, warn = () => {} } = options;
  const clock = new SiteClock(now);
  const ask = async (request: SiteRequest, isRepeated: boolean): Promise<SiteAnswer> => {
    const url = root + request.path;
    const answer = await send(url, request, clock.now(), options);
    const { status, headers } = answer;
    if ((status >= 200 && status < 300) || request.expected?.includes(status)) return answer;
    const text = await answer.text();
    const date = headers.get("date");
    // A response to HEAD has no body with a code.
    const isAboutTime = status === 401 && (readProblem(text).code === "wrong-clock" || request.method === "HEAD");
    if (isAboutTime && !isRepeated && clock.correct(date)) {
      warn(clock.compare(date).trim());
      return ask(request, true);
    }
    throw refusal(url, answer, text, { missing, clocks: clock.compare(date) });
  };
  return (request) => ask(request, false);
}

/** Sends a request once. @param time - of the signature, in milliseconds since 1970 */
async function send(
  url: string,
  { method, headers = {}, body, signal }: SiteRequest,
  time: number,
  { signer, idleTimeoutMs = IDLE_TIMEOUT_MS, fetch = fetchSafely, signal: ending }: SiteApiOptions,
): Promise<SiteAnswer> {
  const isWhole = body instanceof Uint8Array;
  const signed = signRequest(
    { method, url, headers, ...(isWhole ? { body } : body && { bodyHash: body.sha256 }) },
    signer,
    time,
  );
  const idle = new IdleLimit(idleTimeoutMs, [ending, signal]);
  idle.start();
  try {
    const response = await fetch(url, {
      method,
      // A compressed body would have no Content-Length.
      headers: {
        ...signed,
        ...(body && !isWhole && { "content-length": String(body.size) }),
        "accept-encoding": "identity",
      },
      redirect: "error",
      signal: idle.signal,
      ...(body &&
        (isWhole
          ? { body: Uint8Array.from(body) }
          : { body: ReadableStream.from(idle.watch(body.chunks())), duplex: "half" })),
    });
    return toAnswer(url, response, idle);
  } catch (cause) {
    idle.stop();
    throw unreachable(url, cause);
  }
}

function toAnswer(url: string, response: Response, idle: IdleLimit): SiteAnswer {
  const { status, headers } = response;
  if (!response.body) idle.stop();
  const chunks = async function* () {
    try {
      // Only here: Node.js cancels the unread body of a response that no one refers to.
      const { body } = response;
      if (body) yield* idle.watch(body);
    } catch (cause) {
      throw unreachable(url, cause);
    } finally {
      idle.end();
    }
  };
  const text = async () => {
    const tooLarge = () => new TwtxtError("too-large", `The answer is larger than ${MAX_JSON_BYTES} bytes.`);
    return new TextDecoder().decode(await concatChunks(limitSize(chunks(), MAX_JSON_BYTES, tooLarge)));
  };
  const json = async () => {
    const source = await text();
    try {
      return JSON.parse(source);
    } catch {
      throw unreachable(url, new Error("its answer is not JSON"));
    }
  };
  return { status, headers, chunks, text, json, close: () => idle.end() };
}

function refusal(
  url: string,
  { status, headers }: SiteAnswer,
  text: string,
  { missing, clocks }: { missing: string; clocks: string },
): TwtxtError {
  // A response to HEAD has no body with a reason.
  const isFromApi = headers.get("content-type") === "application/problem+json";
  const { detail } = readProblem(text);
  const why = detail === null ? (isFromApi ? "." : ", but not in JSON.") : `: ${detail}`;
  if (status === 404 && !isFromApi) return new TwtxtError("unreachable", `${url} answers 404${why} ${missing}`);
  const other = {
    code: status >= 500 ? "unreachable" : "bad-request",
    advice: status >= 500 ? SERVER_FAULT : "",
  } as const;
  const { code, advice } = REFUSALS[status] ?? other;
  return new TwtxtError(code, `${url} answers ${status}${why}${status === 401 ? clocks : ""}${advice}`);
}

/** A TwtxtError from the request's own body, or from the abort signal, is passed on unchanged. */
function unreachable(url: string, error: unknown): TwtxtError {
  for (let cause = error; cause; cause = Object(cause).cause) if (cause instanceof TwtxtError) return cause;
  const { cause, message } = Object(error);
  if (isReset(cause)) {
    return new TwtxtError("unreachable", `${url}: the connection was closed early.`, { cause: error });
  }
  const reason = String(Object(cause).code ?? Object(cause).message ?? message);
  const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1];
  const what = `${url} could not be reached: ${reason}.`;
  return new TwtxtError("unreachable", advice === undefined ? what : `${what} ${advice}`, { cause: error });
}
