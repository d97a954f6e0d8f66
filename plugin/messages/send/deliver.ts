// plugin/messages/send/deliver.ts: brings one sealed message to one inbox.
import { TwtxtError } from "../../errors.js";
import type { Ask, GuardedResponse } from "../../http/guard.js";
import { problemDetail } from "../../http/one-line.js";
import { parseRetryAfter } from "../../http/retry.js";

/** What came of it. */
export type Delivery =
  | { outcome: "delivered"; status: number }
  /** For good. `status` is null where it was not asked, or gave no answer of its own. */
  | { outcome: "failed"; status: number | null; why: string }
  /** Worth another try, not before the moment that it has asked for, in milliseconds since 1970. */
  | { outcome: "later"; status: number | null; why: string; notBefore: number | null };

export interface DeliveryNetwork {
  ask: Ask;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Of an answer no more than this is read. */
const ANSWER_BYTES = 4 * 1024;

/**
 * Posts a sealed message. https is needed, except where the guard is told otherwise.
 *
 * @param sealed - armored
 * @throws what `ask` throws, where that is no verdict on the endpoint
 * @see PROTOCOL 3.3, 2.3
 */
export async function deliver(endpoint: string, sealed: string, { ask, now }: DeliveryNetwork): Promise<Delivery> {
  try {
    const response = await ask(endpoint, {
      method: "POST",
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: sealed,
      maxBytes: ANSWER_BYTES,
      isHttpsNeeded: true,
    });
    const { status } = response;
    if (status < 200 || status > 299) return refusalOf(response, await detailOf(response), now());
    response.close();
    return { outcome: "delivered", status };
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    return verdictOfError(error);
  }
}

function refusalOf({ status, headers }: GuardedResponse, detail: string | null, now: number): Delivery {
  const why = `it answers ${status}${detail === null ? "" : `, "${detail}"`}`;
  if (status !== 429 && status < 500) return { outcome: "failed", status, why };
  const isToldWhen = status === 429 || status === 503;
  return { outcome: "later", status, why, notBefore: isToldWhen ? parseRetryAfter(headers["retry-after"], now) : null };
}

/** @throws TwtxtError what is no verdict on an endpoint */
function verdictOfError(error: TwtxtError): Delivery {
  switch (error.code) {
    case "unreachable":
      return { outcome: "later", status: null, why: "it did not answer", notBefore: null };
    case "address-refused":
      return { outcome: "failed", status: null, why: "it leads to an address that is not asked" };
    case "too-many-redirects":
      return { outcome: "failed", status: null, why: "it redirects too often, or in a circle" };
    default:
      throw error;
  }
}

/** The status alone decides, so an answer that breaks off or is too long is no trouble. */
async function detailOf({ body }: GuardedResponse): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch {
    return null;
  }
  return problemDetail(Buffer.concat(chunks).toString());
}
