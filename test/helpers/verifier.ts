// test/helpers/verifier.ts: verification of mentions for Alice's site.
import { expect } from "vitest";
import { createGuard, type GuardOptions } from "../../plugin/http/guard.js";
import type { Proof } from "../../plugin/mentions/mention.js";
import { Moderation } from "../../plugin/mentions/receive/moderation.js";
import { checkClaim } from "../../plugin/mentions/receive/receive.js";
import { SiteIndex } from "../../plugin/mentions/receive/site-index.js";
import { createVerify } from "../../plugin/mentions/verify/verify.js";
import { PATIENT_MS } from "./longest.js";
import { type LoopbackServer, loopbackRoute } from "./loopback.js";

export const FEED = "https://alice.example/twtxt.txt";
export const OLD_FEED = "https://old.example/alice.txt";
export const PAGE = "https://alice.example/quinces";
export const PAGE_IN_BRACKETS = "https://alice.example/quince_(fruit)";

const OURS = new SiteIndex({
  feeds: [FEED, OLD_FEED],
  pages: [PAGE, PAGE_IN_BRACKETS, "https://alice.example/"],
  twts: [],
});

export interface VerifierOptions extends Pick<GuardOptions, "lookup" | "firstByteMs"> {
  block?: string[];
  siteIndex?: SiteIndex;
}

/**
 * Verifies a source and target.
 *
 * @param neighbours - the servers on this machine to which the guard may connect
 */
export function verifier(neighbours: readonly Pick<LoopbackServer, "host">[], options: VerifierOptions = {}) {
  const { block = [], siteIndex = OURS, ...guard } = options;
  const ask = createGuard({
    userAgent: "test/1 (+https://alice.example/twtxt.txt; @alice)",
    allowPrivateHosts: neighbours.map(({ host }) => host),
    route: loopbackRoute,
    totalMs: PATIENT_MS,
    firstByteMs: PATIENT_MS,
    ...guard,
  });
  const lists = new Moderation({ allow: [], block, moderate: false });
  const verify = createVerify({ ask, siteIndex, moderation: lists });
  return (source: string, target = FEED): Promise<Proof> => verify(checkClaim(source, target, OURS));
}

/** A feed of these twts, each `<timestamp> <text>`. */
export function feedOf(twts: readonly string[], header = "# nick = bob\n"): string {
  return `${header}\n${twts.map((twt) => `${twt.replace(" ", "\t")}\n`).join("")}`;
}

/** Matches a proven mention with these values. */
export const proven = (mention: object = {}) => ({ outcome: "proven", mention });
/** Matches a disproven mention that is to be deleted. */
export const gone = (code: string) => expect.objectContaining({ outcome: "disproven", code, isGone: true });
/** Matches a disproven mention whose stored version stays. */
export const kept = (code: string) => expect.objectContaining({ outcome: "disproven", code, isGone: false });
