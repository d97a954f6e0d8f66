// plugin/store/patient-fetch.ts: requests to a storage, made again where that is harmless.
import { setTimeout as sleep } from "node:timers/promises";

/** Before a second and a third try. */
const PAUSES_MS = [200, 1000];

export interface Asking extends RequestInit {
  /** Ends all tries and the pauses between them. */
  signal: AbortSignal;
  fetch?: typeof globalThis.fetch;
  /** What an answer that is no good says; by default its status alone. */
  explain?(response: Response): Promise<Error>;
}

/**
 * Asks at most three times. A conditional write that may have happened is not repeated: its own success would read as a
 * conflict. Nor is one whose body is a stream, which is gone.
 *
 * @returns an answer that is good, 404 or 412
 * @throws Error that says why the last try failed
 */
export async function patientFetch(url: Parameters<typeof fetch>[0], asking: Asking): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const answer = await askOnce(url, asking);
    if (answer instanceof Response) return answer;
    const { error, mayRepeat } = answer;
    const pause = PAUSES_MS[tries];
    if (!mayRepeat || pause === undefined || asking.body instanceof ReadableStream) throw error;
    await sleep(pause, undefined, { signal: asking.signal }).catch(() => Promise.reject(error));
  }
}

/** What `fetch` reports is only "fetch failed"; why is below. */
export function whyOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

async function askOnce(
  url: Parameters<typeof fetch>[0],
  { fetch = globalThis.fetch, explain = statusIn, ...init }: Asking,
): Promise<Response | { error: Error; mayRepeat: boolean }> {
  const headers = new Headers(init.headers);
  const isConditional = headers.has("if-match") || headers.has("if-none-match");
  // An etag may be weakened where an answer is compressed, and then matches no condition.
  headers.set("accept-encoding", "identity");
  try {
    const response = await fetch(url, { ...init, headers });
    const { ok, status } = response;
    if (ok || status === 404 || status === 412) return response;
    // By the first two nothing was written.
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
