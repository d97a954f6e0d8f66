// plugin/store/fetch-with-retry.ts: storage requests, retried when that is safe.
import { setTimeout as sleep } from "node:timers/promises";
import { type Fetch, fetchSafely } from "../transport/fetch.js";

/** Pauses before the second and the third try. */
const PAUSES_MS = [200, 1000];

interface RetryingRequest extends RequestInit {
  /** Ends all tries and the pauses between them. */
  signal: AbortSignal;
  fetch?: Fetch;
  /** Makes an error from a failed response; default: one with its status. */
  explain?(response: Response): Promise<Error>;
}

/**
 * Tries a request up to three times. A conditional write that may have happened is not retried, because its own success
 * would look like a conflict. Neither is a request with a stream as its body, which cannot be sent twice.
 *
 * @returns a response with status 2xx, 404 or 412
 * @throws Error with the reason why the last try failed
 */
export async function fetchWithRetry(url: Parameters<Fetch>[0], request: RetryingRequest): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const answer = await tryOnce(url, request);
    if (answer instanceof Response) return answer;
    const { error, mayRepeat } = answer;
    const pause = PAUSES_MS[tries];
    if (!mayRepeat || pause === undefined || request.body instanceof ReadableStream) throw error;
    await sleep(pause, undefined, { signal: request.signal }).catch(() => Promise.reject(error));
  }
}

/** The reason for a failure of `fetch`, whose own message is only "fetch failed". */
export function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

async function tryOnce(
  url: Parameters<Fetch>[0],
  { fetch = fetchSafely, explain = statusIn, ...init }: RetryingRequest,
): Promise<Response | { error: Error; mayRepeat: boolean }> {
  const headers = new Headers(init.headers);
  const isConditional = headers.has("if-match") || headers.has("if-none-match");
  // Compression may weaken an etag, which then matches no condition.
  headers.set("accept-encoding", "identity");
  try {
    const response = await fetch(url, { ...init, headers });
    const { ok, status } = response;
    if (ok || status === 404 || status === 412) return response;
    // 409 and 429 mean that nothing was written.
    const mayRepeat = status === 409 || status === 429 || (status >= 500 && !isConditional);
    return { error: await explain(response), mayRepeat };
  } catch (error) {
    return { error: error as Error, mayRepeat: !isConditional };
  }
}

async function statusIn(response: Response): Promise<Error> {
  await response.body?.cancel();
  return new Error(`it answered with status ${response.status}`);
}
