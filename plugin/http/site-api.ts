// plugin/http/site-api.ts: the client of the author's own site, with signed requests. PROTOCOL 5
import type { Clock } from "../clock.js";
import { TwtxtError, type TwtxtErrorCode } from "../errors.js";
import { chunksUntilAborted } from "../store/chunks.js";
import { problemDetail } from "./one-line.js";
import { type Signer, signRequest } from "./signature.js";

/** A body that is sent as it is read. */
export interface StreamedBody {
  /** In bytes. */
  size: number;
  /** 32 bytes. */
  sha256: Uint8Array;
  chunks(): AsyncIterable<Uint8Array>;
}

export interface SiteRequest {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** What stands behind the root of the API. */
  path: string;
  headers?: Record<string, string>;
  body?: Uint8Array | StreamedBody;
  /** Statuses that are answers and no refusals, beside 200 to 299. */
  expected?: readonly number[];
  /** Ends this request, its body included, by its reason. */
  signal?: AbortSignal;
}

/** An answer that is no refusal. */
export interface SiteAnswer {
  status: number;
  headers: Headers;
  /** The body as it comes, once. @throws TwtxtError `unreachable` where it breaks off */
  chunks(): AsyncIterable<Uint8Array>;
  /** All of the body. @throws TwtxtError `unreachable`; `too-large` beyond 8 MiB */
  text(): Promise<string>;
  /** The body as JSON. @throws TwtxtError as {@link text}, and `unreachable` for what is not JSON */
  json(): Promise<unknown>;
  /** Lets go of a body that is not read to its end. */
  close(): void;
}

/**
 * Asks the site.
 *
 * @throws TwtxtError for a refusal: `not-signed`, `not-allowed`, `not-found`, `precondition-failed`, `precondition-required`,
 *   `body-too-large`, `quota-exceeded`, else `bad-request`; `unreachable` where nobody answers, or not the API; what the chunks of a body throw
 */
export type AskSite = (request: SiteRequest) => Promise<SiteAnswer>;

export interface SiteApiOptions {
  /** The URL of the API, without a slash at its end. */
  root: string;
  signer: Signer;
  now: Clock;
  /** What to do where the site answers, but has no such API: a sentence. */
  missing: string;
  /** Ends what is under way, by its reason. */
  signal?: AbortSignal;
  /** How long nothing may come or go, in milliseconds; default 70,000. */
  idleTimeoutMs?: number;
  /** Default the platform's: this is the author's own site, not a stranger's. */
  fetch?: typeof globalThis.fetch;
}

const IDLE_TIMEOUT_MS = 70_000;
const MAX_JSON_BYTES = 8 * 2 ** 20;

/** What a refusal means, and what to do about it. */
const REFUSALS: Record<number, { code: TwtxtErrorCode; advice: string }> = {
  401: {
    code: "not-signed",
    advice: " Is the clock of this machine right? With --url, was `serve` started with the same one?",
  },
  403: { code: "not-allowed", advice: ' The site knows another key: look at its option "key", and deploy.' },
  404: { code: "not-found", advice: "" },
  412: { code: "precondition-failed", advice: "" },
  428: { code: "precondition-required", advice: "" },
  413: { code: "body-too-large", advice: "" },
  507: { code: "quota-exceeded", advice: "" },
};

export function siteApi({
  root,
  signer,
  now,
  missing,
  idleTimeoutMs = IDLE_TIMEOUT_MS,
  ...options
}: SiteApiOptions): AskSite {
  const { fetch = globalThis.fetch } = options;
  return async ({ method, path, headers = {}, body, expected = [], signal }) => {
    const url = root + path;
    const idle = idleTimeout(idleTimeoutMs, [options.signal, signal]);
    const failed = (cause: unknown) => unreachable(url, cause);
    const { signed, sent } = bodyParts(body, idle.refreshing);
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        // A compressed body would come without its length.
        headers: {
          ...signRequest({ method, url, headers, ...signed }, signer, now()),
          ...sent.headers,
          "accept-encoding": "identity",
        },
        redirect: "error",
        signal: idle.signal,
        ...sent.init,
      });
    } catch (cause) {
      idle.end();
      throw failed(cause);
    }
    const answer = answerOf(response, idle, failed);
    if (response.ok || expected.includes(response.status)) return answer;
    throw refusal(url, response, await answer.text(), missing);
  };
}

type IdleTimeout = ReturnType<typeof idleTimeout>;

/** Ends a request that stands still. One that goes on may take as long as it needs. */
function idleTimeout(idleTimeoutMs: number, signals: readonly (AbortSignal | undefined)[]) {
  const stalled = new AbortController();
  const timer = setTimeout(
    () => stalled.abort(new Error(`nothing has moved for ${idleTimeoutMs / 1000} s`)),
    idleTimeoutMs,
  );
  return {
    signal: AbortSignal.any([stalled.signal, ...signals.filter((signal) => signal !== undefined)]),
    async *refreshing(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        timer.refresh();
        yield chunk;
      }
      timer.refresh();
    },
    end: () => clearTimeout(timer),
    close() {
      clearTimeout(timer);
      stalled.abort();
    },
  };
}

/** What of a body is signed, and how it is sent. */
function bodyParts(body: SiteRequest["body"], refreshing: IdleTimeout["refreshing"]) {
  if (body === undefined) return { signed: {}, sent: { headers: {}, init: {} } };
  if (body instanceof Uint8Array)
    return { signed: { body }, sent: { headers: {}, init: { body: Uint8Array.from(body) } } };
  const init = { body: ReadableStream.from(refreshing(body.chunks())), duplex: "half" as const };
  return { signed: { bodyHash: body.sha256 }, sent: { headers: { "content-length": String(body.size) }, init } };
}

function answerOf(
  { status, headers, body }: Response,
  idle: IdleTimeout,
  failed: (cause: unknown) => TwtxtError,
): SiteAnswer {
  if (!body) idle.end();
  const chunks = async function* () {
    try {
      if (body) yield* idle.refreshing(chunksUntilAborted(body, idle.signal));
    } catch (cause) {
      throw failed(cause);
    } finally {
      idle.close();
    }
  };
  const text = () => textOf(chunks());
  return {
    status,
    headers,
    chunks,
    text,
    close: idle.close,
    async json() {
      const json = await text();
      try {
        return JSON.parse(json);
      } catch {
        throw failed(new Error("it answers with something else than JSON"));
      }
    },
  };
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_JSON_BYTES) throw new TwtxtError("too-large", `An answer is larger than ${MAX_JSON_BYTES} bytes.`);
    all.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(all));
}

function refusal(url: string, { status, headers }: Response, text: string, missing: string): TwtxtError {
  // An answer to HEAD has no body that says why.
  const isOurs = headers.get("content-type") === "application/problem+json";
  const detail = problemDetail(text);
  const why = detail === null ? (isOurs ? "." : ", with something else than JSON.") : `: ${detail}`;
  const { code = otherCode(status), advice = "" } = REFUSALS[status] ?? {};
  if (status !== 404 || isOurs) return new TwtxtError(code, `${url} answers ${status}${why}${advice}`);
  return new TwtxtError("unreachable", `${url} answers ${status}${why} ${missing}`);
}

function otherCode(status: number): TwtxtErrorCode {
  return status === 408 || status === 429 || status >= 500 ? "unreachable" : "bad-request";
}

/** What reading the body of a request has thrown, or who has ended it, is not the site's fault. */
function unreachable(url: string, error: unknown): TwtxtError {
  for (let cause = error; cause; cause = Object(cause).cause) if (cause instanceof TwtxtError) return cause;
  const { cause, message } = Object(error);
  if (Object(cause).code === "UND_ERR_SOCKET") {
    return new TwtxtError("unreachable", `${url}: the connection broke off.`, { cause: error });
  }
  const reason = String(Object(cause).code ?? Object(cause).message ?? message);
  const hint =
    reason === "ECONNREFUSED" ? " Nothing answers there: is the site up, or is it reached by another --url?" : "";
  return new TwtxtError("unreachable", `${url} could not be reached: ${reason}.${hint}`, { cause: error });
}
