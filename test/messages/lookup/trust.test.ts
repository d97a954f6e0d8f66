import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import type { Contact } from "../../../plugin/messages/lookup/contacts.js";
import { type Evidence, judge } from "../../../plugin/messages/lookup/trust.js";
import { BOB, CAROL, EVE, foundFor } from "../neighbourhood.js";

const { byDns, endpoint } = foundFor(BOB);
const contact: Contact = { address: BOB.address, key: BOB.kex, endpoint, byDns, since: "2026-11-20T09:00:00Z" };
const DOWN = new TwtxtError("unreachable", "x");
const LATE = new TwtxtError("not-looked-up", "x");
const UNKNOWN = new TwtxtError("no-such-address", "x");
/** A contact with a pinned key. */
const former = [{ key: EVE.kex, until: "2026-11-21T08:00:00Z" }];
const received = "2026-11-22T10:00:00.000Z";
const published = foundFor(BOB, { key: CAROL.kex });

function verdict(evidence: Partial<Evidence>) {
  return judge({ signer: BOB.kex, received, claimed: BOB.address, found: foundFor(BOB), contact, ...evidence });
}

describe("a message from a guest is", () => {
  const address = `${CAROL.kex}@alice.example`;
  const found = { ...foundFor(CAROL), address };
  const ofGuest = (evidence: Partial<Evidence>) =>
    judge({ signer: CAROL.kex, received, claimed: address, found, contact: null, ...evidence });

  it("verified: signed with the key that is the address", () => {
    expect(ofGuest({})).toEqual({ trust: "verified", byDns: false });
  });

  it.each<[string, Partial<Evidence>]>([
    ["its host responds", {}],
    ["its host does not respond", { found: DOWN }],
    ["the document has the signer's key", { found: { ...found, key: EVE.kex } }],
  ])("forged: signed with another key, while %s", (_name, evidence) => {
    expect(ofGuest({ ...evidence, signer: EVE.kex })).toEqual({
      trust: "unverified",
      reason: "forged: not signed with the key that is its address",
    });
  });

  it("unverified: the document of the address is forged", () => {
    expect(ofGuest({ found: new TwtxtError("not-authentic", "x") })).toEqual({
      trust: "unverified",
      reason: "the document of this guest is forged: it has another key",
    });
  });
});

describe("a message is", () => {
  it.each<[string, Partial<Evidence>]>([
    ["the pinned one", {}],
    ["not pinned yet", { contact: null }],
  ])("verified: signed with the published key, which is %s", (_name, evidence) => {
    expect(verdict(evidence)).toEqual({ trust: "verified", byDns: false });
  });

  it.each<[string, Partial<Evidence>]>([
    ["now, and not pinned yet", { contact: null, found: foundFor(BOB, { byDns: true }) }],
    ["now", { found: foundFor(BOB, { byDns: true }) }],
    ["when it was pinned", { contact: { ...contact, byDns: true } }],
  ])("verified by DNS: signed with the published key, found through DNS %s", (_name, evidence) => {
    expect(verdict(evidence)).toEqual({ trust: "verified", byDns: true });
  });

  it.each(["2026-11-20T23:00:00.000Z", "2026-11-21T08:00:00.999Z"])(
    "former-key: signed with a former key, and received before it was replaced: %s",
    (received) => {
      expect(verdict({ signer: EVE.kex, received, contact: { ...contact, former } })).toEqual({
        trust: "former-key",
        until: "2026-11-21T08:00:00Z",
      });
    },
  );

  it("unverified: signed with a former key, and received after it was replaced", () => {
    const received = "2026-11-21T08:00:01.000Z";
    expect(verdict({ signer: EVE.kex, received, contact: { ...contact, former } })).toEqual({
      trust: "unverified",
      reason: `signed with the key that ${BOB.address} had until 2026-11-21, and received after it`,
    });
  });

  it("unverified: its host gets no request because it is not public", () => {
    const found = new TwtxtError("address-refused", "x");
    expect(verdict({ found })).toMatchObject({
      reason: expect.stringMatching(
        /^bob\.example was not asked, because .* \(to ask it: --allow-private-host bob\.example:443\)/,
      ),
    });
  });

  it.each<[string, Partial<Evidence>]>([
    ["it has no address", { claimed: null }],
    ["its sender is not looked up", { found: null }],
  ])("unverified: %s", (_name, evidence) => {
    expect(verdict(evidence)).toEqual({
      trust: "unverified",
      reason: "it does not name one sender's address",
    });
  });

  it.each<[string, Partial<Evidence>]>([
    ["no key is pinned", { contact: null }],
    ["it is not the pinned key", {}],
    ["it is not the pinned key, which differs from the published one", { found: published }],
  ])("unverified: signed with an unpublished key; %s", (_name, evidence) => {
    expect(verdict({ ...evidence, signer: EVE.kex })).toEqual({
      trust: "unverified",
      reason: "signed with a key that is not that of bob@bob.example",
    });
  });

  it.each<[string, Partial<Evidence>]>([
    ["bob.example did not answer; it is the key pinned on 2026-11-20", { found: DOWN }],
    ["bob.example did not answer; it is not the key pinned on 2026-11-20", { found: DOWN, signer: EVE.kex }],
    ["bob.example did not answer; no key is pinned", { found: DOWN, contact: null }],
    [
      "not looked up this time, because too many hosts did not answer; no key is pinned",
      { found: LATE, contact: null },
    ],
    ["bob.example has no bob@bob.example; it is the key pinned on 2026-11-20", { found: UNKNOWN }],
  ])("unverified: %s", (reason, evidence) => {
    expect(verdict(evidence)).toEqual({ trust: "unverified", reason });
  });

  it.each<[string, Partial<Evidence>]>([
    ["signed with the pinned key", { found: published }],
    ["signed with the published key", { found: published, signer: CAROL.kex }],
    ["signed with the key published through DNS", { found: { ...published, byDns: true }, signer: CAROL.kex }],
  ])("key-changed: the published key differs from the pinned one, and the message is %s", (_name, evidence) => {
    expect(verdict(evidence)).toEqual({ trust: "key-changed", pinned: BOB.kex, now: CAROL.kex });
  });
});
