// plugin/store/fetch-with-retry.ts: storage requests, retried when that is safe.
import { type Fetch, fetchSafely } from "../transport/fetch.js";
import { retry } from "./retry.js";

/** Pauses before the second and later tries. */
const PAUSES_MS = [100, 200, 400, 800, 1600];
/** Statuses that mean that nothing was written. */
export const REFUSED = [409, 429];
/** The status of an overloaded storage: nothing was written, unless it was sent by something in front of the storage. */
const OVERLOADED = 503;

interface RetryingRequest extends RequestInit {
  /** Ends all tries and the pauses between them. */
  signal: AbortSignal;
  fetch?: Fetch;
  /** Makes the headers of each try; default: `headers`. */
  sign?(): Promise<Headers>;
  /** Makes an error from a failed response; default: one with its status. */
  explain?(response: Response): Promise<Error>;
  /**
   * Reads what a conditional write was to write. The success of an earlier try, whose response was lost, looks like a conflict.
   *
   * @returns a response with the etag if this request wrote it; `null` otherwise
   */
  readBack?(): Promise<Response | null>;
}

/** Nothing was written, and a try with new headers may succeed. */
export class RepeatableRefusal extends Error {}

/** A refusal that a later try does not change, such as that of a wrong access key. */
export class LastingRefusal extends Error {}

interface Failure {
  error: Error;
  mayRepeat: boolean;
  /** Whether the request may have had its effect. */
  isUncertain: boolean;
}

/**
 * Tries a request up to six times, within the time of its signal. A conditional write that may have happened is retried only
 * if it can be read back. A request with a stream as its body is not retried, because it cannot be sent twice.
 *
 * @returns a response with status 2xx, 404 or 412
 * @throws Error with the reason why the last try failed, or why it is not known whether a conditional write has happened
 */
export async function fetchWithRetry(url: Parameters<Fetch>[0], request: RetryingRequest): Promise<Response> {
  const failures: Failure[] = [];
  const attempt = async () => {
    const answer = await tryOnce(url, request);
    if (answer instanceof Response) return answer;
    failures.push(answer);
    throw answer.error;
  };
  const mayRepeat = () => failures.at(-1)?.mayRepeat === true && !(request.body instanceof ReadableStream);
  const answer = await retry(attempt, { pauses: PAUSES_MS, mayRepeat, signal: request.signal });
  if (failures.length === 0) return answer;
  return settleConflict(answer, request, failures.findLast(({ isUncertain }) => isUncertain)?.error ?? null);
}

/**
 * @param answer - to a retried request
 * @param uncertain - the failure of an earlier try that may have had its effect
 */
async function settleConflict(
  answer: Response,
  { readBack }: RetryingRequest,
  uncertain: Error | null,
): Promise<Response> {
  if (answer.ok || !readBack) return answer;
  const own = await readBack();
  if (own === null && uncertain === null) return answer;
  await answer.body?.cancel();
  if (own) return own;
  throw uncertain;
}

/** The reason for a failure of `fetch`, whose own message is only "fetch failed". */
export function describeError({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

async function tryOnce(
  url: Parameters<Fetch>[0],
  { fetch = fetchSafely, explain = toStatusError, readBack, sign, ...init }: RetryingRequest,
): Promise<Response | Failure> {
  const headers = (await sign?.()) ?? new Headers(init.headers);
  const isConditional = headers.has("if-match") || headers.has("if-none-match");
  const isSafe = !isConditional || readBack !== undefined;
  // Compression may weaken an etag, which then matches no condition.
  headers.set("accept-encoding", "identity");
  try {
    const response = await fetch(url, { ...init, headers });
    const { ok, status } = response;
    if (ok || status === 404 || status === 412) return response;
    const error = await explain(response);
    return {
      error,
      mayRepeat: error instanceof RepeatableRefusal || REFUSED.includes(status) || (status >= 500 && isSafe),
      isUncertain: status >= 500 && status !== OVERLOADED,
    };
  } catch (error) {
    return { error: error as Error, mayRepeat: isSafe, isUncertain: true };
  }
}

async function toStatusError(response: Response): Promise<Error> {
  await response.body?.cancel();
  return new Error(`it answered with status ${response.status}`);
}
