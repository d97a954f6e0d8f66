// plugin/author/mentions/moderate.ts: the author's decisions about received mentions.
import type { MentionState } from "../../mentions/mention.js";
import type { ManagedMention } from "../../mentions/receive/managed-mention.js";
import type { Outcome } from "../outcome.js";
import type { SiteMentions } from "./site-mentions.js";

export const DECISIONS: Readonly<Record<MentionState, string>> = {
  shown: "Approved",
  rejected: "Rejected",
  held: "Held again",
};

/**
 * Shows a mention, hides it permanently, or holds it for another decision.
 *
 * @param from - its state, which undoing restores
 * @throws TwtxtError as {@link SiteMentions.decide}
 */
export async function decideMention(
  mention: Pick<ManagedMention, "id" | "version">,
  { from, to }: Record<"from" | "to", MentionState>,
  site: SiteMentions,
): Promise<Outcome> {
  const decided = await site.decide(mention, to);
  const { author, source } = decided;
  return {
    text: `${DECISIONS[to]}: the mention by ${author?.name || source}.`,
    undo: () => decideMention(decided, { from: to, to: from }, site),
  };
}

/** Rejects what a host has sent so far: a site has no list of blocked hosts that changes at run time. */
export async function rejectHost(host: string, site: SiteMentions): Promise<Outcome> {
  const count = await site.rejectSource(host);
  return { text: `${count} rejected. To refuse new ones, add "${host}" to the option mentions.block and deploy.` };
}

export async function verifyPending(site: SiteMentions): Promise<Outcome> {
  const { kept, dropped, waiting } = await site.verify();
  return { text: `${kept} verified, ${dropped} dropped, ${waiting} still pending.` };
}
