// plugin/author/notified.ts: who would be notified of a twt, before it is published.
import { TwtxtError } from "../errors.js";
import type { Mention } from "../feed/mention.js";
import type { Ask } from "../http/guard.js";
import { createDiscover, type FoundEndpoint } from "../mentions/send/discover.js";

/** A mentioned feed or page, and how its endpoint was found. */
export interface Notified extends Mention {
  /** `null` if it cannot be notified. */
  endpoint: string | null;
  method: FoundEndpoint["method"] | null;
  /** Half a sentence why it cannot be notified; `null` if it can. */
  why: string | null;
}

/** Looks up the endpoint of each mention, as sending does. Sends nothing. */
export function findNotified(
  mentions: readonly Mention[],
  { ask, now }: { ask: Ask; now(): number },
): Promise<Notified[]> {
  const discover = createDiscover({ ask, now });
  return Promise.all(
    mentions.map(async (mention) => {
      try {
        const found = await discover(mention.url);
        if (found.endpoint === null) return { ...mention, endpoint: null, method: null, why: found.why };
        return { ...mention, endpoint: found.endpoint, method: found.method, why: null };
      } catch (error) {
        if (!(error instanceof TwtxtError)) throw error;
        return { ...mention, endpoint: null, method: null, why: error.message };
      }
    }),
  );
}
