// plugin/mentions/send/endpoint-of.ts: where a mention or a link is sent, or why it is not.
import type { Discover, FoundEndpoint } from "./discover.js";

/** A mention of a feed or a page, or a link in a post. */
export interface MentionTarget {
  target: string;
  isLink: boolean;
}

/**
 * Half a sentence why a target is not requested.
 *
 * @param isBlocked - whether the option `mentions.block` names a URL; applies to links
 * @returns `null` if it is requested
 */
export function whyNotRequested({ target, isLink }: MentionTarget, isBlocked: (url: string) => boolean): string | null {
  if (isLink && isBlocked(target)) return "blocked by the option mentions.block";
  const { protocol } = new URL(target);
  return /^https?:$/.test(protocol) ? null : `mentions are sent over http and https only, not ${protocol}//`;
}

/**
 * Finds the endpoint of a target.
 *
 * @returns `why` is half a sentence
 * @throws as `discover`
 */
export async function endpointOf(
  { target, isLink }: MentionTarget,
  discover: Discover,
): Promise<FoundEndpoint | { endpoint: null; why: string }> {
  const found = await discover(target);
  if (!isLink || found.endpoint === null || found.method !== "feed field") return found;
  return { endpoint: null, why: "its author is notified of mentions, not of links" };
}
