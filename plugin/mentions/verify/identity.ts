// plugin/mentions/verify/identity.ts: the URL that identifies a source with several URLs.
import { TwtxtError } from "../../errors.js";
import { isSameHost } from "../../http/hosts.js";
import { comparableUrl, isSameUrl, withoutQuery } from "../../http/same-url.js";
import type { Claim, Proof, ProvenMention } from "../mention.js";
import type { VerificationContext } from "./verification-context.js";

/** A proven mention, with the data that identifies its source under another URL. */
export interface SourceMention {
  outcome: "proven";
  mention: ProvenMention;
  /** The URL that the source declares: a feed's `url` field, a page's `rel=canonical`; `null` for none. */
  declared: string | null;
  /** Equal for the same source: a twt's instant and text, or a page's text. */
  contents: string;
}

export type SourceResult = SourceMention | Exclude<Proof, { outcome: "proven" }>;

/** @throws TwtxtError as the guard does */
export type CheckSource = (claim: Claim) => Promise<SourceResult>;

/**
 * Finds the source's own URL: the one it declares, else its URL without the query. Either counts only on the same host
 * and with the same twt or page. Otherwise `bob.txt?1` could repeat a mention, use up its host's share or bypass the
 * author's lists.
 *
 * @returns the mention as found at that URL
 * @throws TwtxtError if the limits of the verification prevent an answer
 * @see PROTOCOL 2.4, "The proof"
 */
export async function resolveIdentity(
  seen: SourceMention,
  claim: Claim,
  { look, checkLimits }: Pick<VerificationContext, "checkLimits"> & { look: CheckSource },
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

/** Other failures at the source's own URL do not matter. */
function unlessBlocked(error: unknown): null {
  if (error instanceof TwtxtError && error.code !== "blocked") return null;
  throw error;
}

function isSameSource(other: SourceMention, seen: SourceMention, url: string): boolean {
  if (other.contents === seen.contents) return true;
  // A page may differ in each answer, such as by a nonce. Its declared URL counts then.
  return seen.mention.timestamp === null && other.declared !== null && isSameUrl(other.declared, url);
}
