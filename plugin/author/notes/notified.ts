// plugin/author/notes/notified.ts: who would be notified of a twt, before it is published.
import { TwtxtError } from "../../errors.js";
import type { Ask } from "../../http/guard.js";
import { Moderation } from "../../mentions/receive/moderation.js";
import { createDiscover, type FoundEndpoint } from "../../mentions/send/discover.js";
import { endpointOf, whyNotRequested } from "../../mentions/send/endpoint-of.js";
import type { Site } from "../site.js";
import type { TwtPreview } from "./compose.js";

/** A mentioned feed or page, or a page that the note links to, and how its endpoint was found. */
export interface Notified {
  /** `null` for a link, and for a mention without one. */
  nick: string | null;
  url: string;
  isLink: boolean;
  /** `null` if it cannot be notified. */
  endpoint: string | null;
  method: FoundEndpoint["method"] | null;
  /** Half a sentence why it cannot be notified; `null` if it can. */
  why: string | null;
}

/** Looks up the endpoints of the mentions and links, as sending does. Sends nothing. */
export function findNotified(
  { mentions, links }: Pick<TwtPreview, "mentions" | "links">,
  { site, ask, now }: { site: Pick<Site, "settings">; ask: Ask; now(): number },
): Promise<Notified[]> {
  const discover = createDiscover({ ask, now });
  const moderation = new Moderation(site.settings.mentions);
  const isBlocked = (url: string) => moderation.isBlocked(url);
  const all = [
    ...mentions.map((mention) => ({ ...mention, isLink: false })),
    ...links.map((url) => ({ nick: null, url, isLink: true })),
  ];
  return Promise.all(
    all.map(async (one) => {
      const target = { target: one.url, isLink: one.isLink };
      const none = (why: string): Notified => ({ ...one, endpoint: null, method: null, why });
      const refusal = whyNotRequested(target, isBlocked);
      if (refusal !== null) return none(refusal);
      try {
        const found = await endpointOf(target, discover);
        if (found.endpoint === null) return none(found.why);
        return { ...one, endpoint: found.endpoint, method: found.method, why: null };
      } catch (error) {
        if (error instanceof TwtxtError) return none(error.message);
        throw error;
      }
    }),
  );
}
