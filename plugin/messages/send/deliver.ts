// plugin/messages/send/deliver.ts: delivers a sealed message to an inbox.
import type { Clock } from "../../clock.js";
import type { Ask } from "../../http/guard.js";
import { type PostResult, post } from "../../http/post.js";

export interface DeliveryNetwork {
  ask: Ask;
  now: Clock;
}

/**
 * Posts a sealed message, over https unless the guard allows otherwise.
 *
 * @param sealed - armored
 * @throws what {@link post} throws
 * @see PROTOCOL 3.3
 */
export function deliver(endpoint: string, sealed: string, { ask, now }: DeliveryNetwork): Promise<PostResult> {
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return post(ask, endpoint, { headers, body: sealed, isHttpsNeeded: true }, now);
}
