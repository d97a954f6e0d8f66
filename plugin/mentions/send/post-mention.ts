// plugin/mentions/send/post-mention.ts: posts a mention to an endpoint.
import type { Clock } from "../../clock.js";
import type { Ask } from "../../http/guard.js";
import { type PostResult, post } from "../../http/post.js";

/** A reference to the twt, or the web page of its post. */
export type Form = "reference" | "page";

export interface Source {
  form: Form;
  url: string;
}

export interface Attempt {
  source: Source;
  /** The mention's URL without its fragment, or a reference to the twt that the mention answers. */
  target: string;
}

export type Answer = PostResult & Attempt;

/**
 * Posts a mention. Each attempt that the endpoint refuses with a 4xx is followed by the next one.
 *
 * @param attempts - the preferred one first
 * @param now - milliseconds since 1970
 * @throws what {@link post} throws
 * @see PROTOCOL 2.3
 */
export async function postMention(
  ask: Ask,
  endpoint: string,
  attempts: readonly [Attempt, ...Attempt[]],
  now: Clock,
): Promise<Answer> {
  const [attempt, next, ...others] = attempts;
  const { source, target } = attempt;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ source: source.url, target }).toString();
  const answer = await post(ask, endpoint, { headers, body }, now);
  const isRefused = answer.outcome === "refused" && (answer.status ?? 0) >= 400;
  return isRefused && next ? postMention(ask, endpoint, [next, ...others], now) : { ...answer, ...attempt };
}
