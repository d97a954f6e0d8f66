// plugin/mentions/verify/identity.ts: the one URL by which a source is known, however it is spelled.
import { TwtxtError } from "../../errors.js";
import { comparableUrl, isSameHost, isSameUrl, withoutQuery } from "../../http/same-url.js";
import type { Claim, Proof, ProvenMention } from "../mention.js";
import type { Inspection } from "./ask-source.js";

/** A proven mention, and what tells whether another URL answers with the same source. */
export interface Sighting {
  outcome: "proven";
  mention: ProvenMention;
  /** The URL that the source says is its own: a feed's field `url`, a page's `rel=canonical`; `null` for none. */
  declared: string | null;
  /** The same for the same source: a twt's instant and text, a page's bytes. */
  contents: string;
}

/** What a look at a source finds. */
export type Look = Sighting | Exclude<Proof, { outcome: "proven" }>;

/** @throws TwtxtError as the guard does */
export type LookAt = (claim: Claim) => Promise<Look>;

/**
 * Finds the source's own URL: the one that it declares, else its URL without the query. Either counts only on the same
 * host and where it answers with the same twt or page. Otherwise anyone could show a mention again, use up its host's
 * daily share or pass the lists of the author by `bob.txt?1`.
 *
 * @returns the mention as its own URL has it
 * @throws TwtxtError where the limits of the verification leave open which URL that is
 * @see PROTOCOL 2.4, "The proof"
 */
export async function withOwnIdentity(
  seen: Sighting,
  claim: Claim,
  { look, checkLimits }: Pick<Inspection, "checkLimits"> & { look: LookAt },
): Promise<ProvenMention> {
  const { mention, declared } = seen;
  const isOwn = declared !== null && isSameUrl(declared, mention.identity);
  const names = isOwn ? [] : [declared, withoutQuery(mention.identity)];
  const others = names.filter((url) => url !== null).filter((url) => !isSameUrl(url, mention.identity));

  for (const url of new Set(others.filter((url) => comparableUrl(url) !== null && isSameHost(url, mention.identity)))) {
    const other = await look({ ...claim, source: url }).catch(unlessBlocked);
    if (
      other?.outcome === "proven" &&
      isSameHost(other.mention.identity, mention.identity) &&
      isSameSource(other, seen, url)
    ) {
      return other.mention;
    }
    checkLimits();
  }
  return mention;
}

/** A source that the author blocks is blocked by its own URL too. All else that happens there says nothing. */
function unlessBlocked(error: unknown): null {
  if (error instanceof TwtxtError && error.code !== "blocked") return null;
  throw error;
}

function isSameSource(other: Sighting, seen: Sighting, url: string): boolean {
  if (other.contents === seen.contents) return true;
  // A page may differ in every answer, such as by a nonce. Then its own word counts.
  return seen.mention.timestamp === null && other.declared !== null && isSameUrl(other.declared, url);
}
