// plugin/cli/mentions-api.ts: asks one's own site about its mentions.
import { siteApi } from "../http/site-api.js";
import type { Identity } from "../keys/identity-text.js";

/** Asks the site. @returns what it answers, as JSON. @throws TwtxtError as `AskSite` of site-api.ts */
export type AskMentions = (
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<unknown>;

/**
 * @param root - the URL of the API, without a slash at its end
 * @param now - milliseconds since 1970
 */
export function mentionsApi(root: string, signer: Identity, now: () => number): AskMentions {
  const ask = siteApi({ root, signer, now, missing: "Has the site been deployed with functions?" });
  return async (method, path, body, headers = {}) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const answer = await ask({ method, path, headers, ...(bytes && { body: bytes }) });
    return answer.json();
  };
}
