// plugin/site/repeated-mentions.ts: selects one of several mentions by the same twt or page.
import type { PublicMention } from "./mention-list.js";

/**
 * A twt or page can mention several URLs of this site, and a twt can be received from its feed and from its page. Under a
 * page, only the one that was received last is shown: the component reads the newest mentions first, so it knows that one.
 */
export function oncePerSource<Mention extends ComparedMention>(mentions: readonly Mention[]): Mention[] {
  const shown = new Map<string, Mention>();
  for (const mention of mentions) {
    const known = shown.get(sourceKey(mention));
    if (!known || isBefore(mention, known)) shown.set(sourceKey(mention), mention);
  }
  return mentions.filter((mention) => shown.get(sourceKey(mention)) === mention);
}

/** Leaves out repeats of a twt in the list of all mentions. A page, such as a list of likes, can differ for each target. */
export function oncePerTwt<Mention extends ComparedMention>(mentions: readonly Mention[]): Mention[] {
  const twts = new Set(oncePerSource(mentions.filter(({ hash }) => hash !== null)));
  return mentions.filter((mention) => mention.hash === null || twts.has(mention));
}

/** `received` is null for an own reply. */
type ComparedMention = Pick<PublicMention, "source" | "target" | "hash"> & { received: string | null };

const ORIGIN = /^[^/]*\/*[^/]*/;

/** The same for the page and the feed of a twt. Another host may repeat a twt, but does not replace it. */
function sourceKey({ source, hash }: ComparedMention): string {
  return hash === null ? source : `${ORIGIN.exec(source)?.[0]} ${hash}`;
}

function isBefore(one: ComparedMention, other: ComparedMention): boolean {
  const [a, b] = [one.received ?? "", other.received ?? ""];
  if (a !== b) return a > b;
  return one.target === other.target ? one.source < other.source : one.target < other.target;
}
