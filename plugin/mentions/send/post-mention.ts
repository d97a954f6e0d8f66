// plugin/mentions/send/post-mention.ts: posts a mention to an endpoint.
import type { Clock } from "../../clock.js";
import type { Ask } from "../../http/guard.js";
import { type PostResult, post } from "../../http/post.js";

/** A reference to the twt, or the web page of its post. */
export type Form = "reference" | "page";

/** The URL that mentions the target. */
export interface Source {
  form: Form;
  url: string;
}

/** The endpoint's verdict on a source. */
export type Answer = PostResult & { source: Source };

interface MentionPost {
  endpoint: string;
  /** The mention's URL without its fragment. */
  target: string;
  /** The preferred form, then the other one, if any. */
  sources: readonly [Source, ...Source[]];
}

/**
 * Posts a mention. If the endpoint refuses one form with a 4xx, the other form is tried once.
 *
 * @param now - milliseconds since 1970
 * @throws what {@link post} throws
 * @see PROTOCOL 2.3
 */
export async function postMention(ask: Ask, posting: MentionPost, now: Clock): Promise<Answer> {
  const [first, second] = posting.sources;
  const answer = await postSource(ask, posting, first, now);
  const isRefused = answer.outcome === "refused" && (answer.status ?? 0) >= 400;
  return second && isRefused ? postSource(ask, posting, second, now) : answer;
}

async function postSource(ask: Ask, { endpoint, target }: MentionPost, source: Source, now: Clock): Promise<Answer> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ source: source.url, target }).toString();
  return { ...(await post(ask, endpoint, { headers, body }, now)), source };
}
