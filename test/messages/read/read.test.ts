import { describe, expect, it } from "vitest";
import { TwtxtError } from "../../../plugin/errors.js";
import { seal } from "../../../plugin/messages/index.js";
import { Contacts } from "../../../plugin/messages/lookup/contacts.js";
import type { Found, Lookup } from "../../../plugin/messages/lookup/lookup.js";
import { createReceipt, formatMessage, type MessageEvent, readHash } from "../../../plugin/messages/plaintext.js";
import { type OpenedMessage, openMessages, receiptsAmong } from "../../../plugin/messages/read/read.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { ALICE, BOB, CAROL, EVE, foundFor, NOW, type Person } from "../neighbourhood.js";

const ID = "1".repeat(64);
const CREATED = "2026-11-20T09:00:01.000Z";
const TIME = "2026-11-20T09:00:00Z";
const SINCE = TIME;

const failsWith = (code: string) => expect.objectContaining({ code });
const bytes = (text: string) => new TextEncoder().encode(text);

interface MessageOptions {
  by?: Person;
  from?: string;
  text?: string;
  events?: MessageEvent[];
  to?: Person[];
}

/** The text of a message to Alice. */
function messageText({ by = BOB, from = by.address, text = "Hello", events = [] }: MessageOptions = {}): string {
  return formatMessage({ time: TIME, from, text, events });
}

function sealed(plaintext: string | Uint8Array, { by = BOB, to = [ALICE] }: MessageOptions = {}): string {
  const content = typeof plaintext === "string" ? bytes(plaintext) : plaintext;
  return seal(content, { sender: by.key, recipients: to.map(({ key }) => key.publicKey), armor: true });
}

/** Alice's reader. Tests set the results of lookups in `answers`; `first` are the first results. */
function reader(first: Found[] = []) {
  const store = faultyStore(memoryStore());
  const clock = { time: NOW };
  const contacts = new Contacts(store, () => clock.time);
  const lookups: string[] = [];
  const answers: Record<string, Found | TwtxtError | Promise<Found>> = {
    [BOB.address]: foundFor(BOB),
    [CAROL.address]: foundFor(CAROL),
  };
  const lookup: Lookup = async (address) => {
    lookups.push(address);
    const answer = first.shift() ?? answers[address] ?? new TwtxtError("no-such-address", "x");
    if (answer instanceof TwtxtError) throw answer;
    return answer;
  };
  const openAll = (payloads: readonly (string | Uint8Array)[]) => {
    const message = (payload: string | Uint8Array) => {
      return { id: ID, created: CREATED, payload: typeof payload === "string" ? bytes(payload) : payload };
    };
    return openMessages(payloads.map(message), { keys: [ALICE.key], contacts, lookup });
  };
  const read = async (payload: string | Uint8Array) => {
    const [message] = await Promise.all(await openAll([payload]));
    if (!message) throw new Error("No message was read.");
    return message;
  };
  const opened = async (payload: string) => {
    const message = await read(payload);
    if ("unreadable" in message) throw new Error(message.unreadable);
    return message;
  };
  return { store, clock, contacts, lookups, answers, openAll, read, opened };
}

describe("a message in the inbox", () => {
  it("opens, is verified, and its sender's key is pinned", async () => {
    const alice = reader();
    expect(await alice.read(sealed(messageText()))).toEqual({
      id: ID,
      created: CREATED,
      hash: readHash(bytes(messageText())),
      message: { lines: [{ time: TIME, text: "Hello" }], address: BOB.address, events: [] },
      signer: BOB.kex,
      trust: { trust: "verified", byDns: false },
    });
    expect(await alice.contacts.list()).toEqual([
      { address: BOB.address, key: BOB.kex, endpoint: foundFor(BOB).endpoint, byDns: false, since: SINCE },
    ]);
  });

  it("opens in binary form too", async () => {
    const binary = seal(bytes(messageText()), { sender: BOB.key, recipients: [ALICE.key.publicKey] });
    expect(await reader().read(binary)).toMatchObject({ signer: BOB.kex, trust: { trust: "verified" } });
  });

  it("opens any sealed bytes", async () => {
    const message = await reader().read(sealed(Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x41)));
    expect(message).toMatchObject({ message: { lines: [{ time: null, text: "\ufffdA" }], address: null } });
  });

  it.each<[string, (good: string) => string, string]>([
    ["to another recipient", () => sealed(messageText(), { to: [CAROL] }), "not-a-recipient"],
    ["truncated", (good) => good.slice(0, 100), "bad-armor"],
    ["empty", () => "", "bad-armor"],
  ])("does not open, and has a reason: %s", async (_name, change) => {
    const alice = reader();
    const message = await alice.read(change(sealed(messageText())));
    expect(message).toEqual({ id: ID, created: CREATED, unreadable: expect.stringMatching(/^[A-Z][^\n]+\.$/) });
    expect([alice.lookups, await alice.contacts.list()]).toEqual([[], []]);
  });

  it("is unverified if another key signed it, and no key is pinned", async () => {
    const alice = reader();
    const forged = await alice.opened(sealed(messageText({ from: BOB.address }), { by: EVE }));
    expect(forged).toMatchObject({
      signer: EVE.kex,
      message: { address: BOB.address },
      trust: { trust: "unverified", reason: "signed with a key that is not that of bob@bob.example" },
    });
    expect(await alice.contacts.list()).toEqual([]);
  });

  it.each([
    ["two addresses", messageText() + messageText({ from: CAROL.address })],
    ["no address", "Hello"],
    ["nothing", ""],
  ])("is unverified if it claims %s, without a lookup", async (_name, plaintext) => {
    const alice = reader();
    expect(await alice.opened(sealed(plaintext))).toMatchObject({ trust: { trust: "unverified" } });
    expect([alice.lookups, await alice.contacts.list()]).toEqual([[], []]);
  });

  it("is unverified while its sender's host is down, even with a pinned key", async () => {
    const alice = reader();
    alice.answers[BOB.address] = new TwtxtError("unreachable", "x");
    expect((await alice.opened(sealed(messageText()))).trust).toEqual({
      trust: "unverified",
      reason: "bob.example did not answer; no key is pinned",
    });
    await alice.contacts.pin(foundFor(BOB));
    expect((await alice.opened(sealed(messageText()))).trust).toEqual({
      trust: "unverified",
      reason: "bob.example did not answer; it is the key pinned on 2026-11-20",
    });
  });

  it("reports a changed key until the author accepts it", async () => {
    const alice = reader();
    await alice.contacts.pin(foundFor(BOB));
    const changed = foundFor(BOB, { key: EVE.kex });
    alice.answers[BOB.address] = changed;
    const trust = { trust: "key-changed", pinned: BOB.kex, now: EVE.kex };
    expect((await alice.opened(sealed(messageText(), { by: EVE }))).trust).toEqual(trust);
    expect((await alice.opened(sealed(messageText()))).trust).toEqual(trust);
    expect((await alice.contacts.get(BOB.address))?.key).toBe(BOB.kex);

    await alice.contacts.accept(changed);
    expect((await alice.opened(sealed(messageText(), { by: EVE }))).trust).toEqual({ trust: "verified", byDns: false });
    expect((await alice.opened(sealed(messageText()))).trust).toMatchObject({ trust: "unverified" });
  });

  it("is verified for only one of two first messages with one address and different keys", async () => {
    const alice = reader([foundFor(BOB), foundFor(BOB, { key: EVE.kex })]);
    const both = [alice.opened(sealed(messageText())), alice.opened(sealed(messageText(), { by: EVE }))];
    const trusts = (await Promise.all(both)).map(({ trust }) => trust.trust);
    expect(trusts).toEqual(["verified", "key-changed"]);
  });

  it("is verified by DNS while its key is found only through DNS", async () => {
    const alice = reader();
    alice.answers[BOB.address] = foundFor(BOB, { byDns: true });
    const trust = { trust: "verified", byDns: true };
    expect((await alice.opened(sealed(messageText()))).trust).toEqual(trust);
    expect((await alice.opened(sealed(messageText()))).trust).toEqual(trust);
    alice.answers[BOB.address] = foundFor(BOB);
    expect((await alice.opened(sealed(messageText()))).trust).toEqual({ trust: "verified", byDns: false });
  });

  it("store-failed: is not returned if the contacts cannot be read", async () => {
    const alice = reader();
    alice.store.fail({ when: "before" });
    await expect(alice.opened(sealed(messageText()))).rejects.toThrow(failsWith("store-failed"));
  });
});

describe("messages in the inbox", () => {
  it("keep their order; the oldest contacts are looked up first and unknown senders last", async () => {
    const alice = reader();
    await alice.contacts.pin(foundFor(CAROL));
    alice.clock.time += 1000;
    await alice.contacts.pin(foundFor(BOB));
    const payloads = [
      "?",
      sealed(messageText({ by: EVE }), { by: EVE }),
      sealed(messageText()),
      sealed(messageText({ by: CAROL }), { by: CAROL }),
    ];
    const all = await Promise.all(await alice.openAll(payloads));
    expect(alice.lookups).toEqual([CAROL.address, BOB.address, EVE.address]);
    expect(all).toMatchObject([
      { unreadable: expect.any(String) },
      ...[EVE, BOB, CAROL].map(({ kex }) => ({ signer: kex })),
    ]);
  });

  it("do not wait for each other", async () => {
    const alice = reader();
    let answer = (_: Found) => {};
    alice.answers[CAROL.address] = new Promise<Found>((resolve) => {
      answer = resolve;
    });
    const [carols, bobs] = await alice.openAll([
      sealed(messageText({ by: CAROL }), { by: CAROL }),
      sealed(messageText()),
    ]);
    expect(await bobs).toMatchObject({ signer: BOB.kex, trust: { trust: "verified" } });
    answer(foundFor(CAROL));
    expect(await carols).toMatchObject({ signer: CAROL.kex, trust: { trust: "verified" } });
  });
});

describe("a read receipt", () => {
  const words = formatMessage({ time: TIME, from: ALICE.address, text: "Hello Bob" });
  const copy = { id: ID, created: TIME, sealed: sealed(words, { by: ALICE, to: [BOB, ALICE] }), to: [BOB.address] };
  const events = [createReceipt(readHash(bytes(words)))];

  async function receipts(receipt: MessageOptions, sent = [copy]) {
    const alice = reader();
    const message: OpenedMessage = await alice.opened(sealed(messageText({ text: "", events, ...receipt }), receipt));
    return receiptsAmong([message], sent, [ALICE.key]);
  }

  it("has the reader and the message", async () => {
    const old = { ...copy, id: "2".repeat(64), sealed: sealed(words, { by: ALICE, to: [BOB] }) };
    expect(await receipts({}, [old, copy])).toEqual([{ id: ID, by: BOB.address, time: TIME, sent: copy }]);
  });

  it("counts for its reader if the same text was sent to several people separately", async () => {
    const forCarol = { ...copy, id: "3".repeat(64), to: [CAROL.address] };
    expect(await receipts({}, [copy, forCarol])).toMatchObject([{ by: BOB.address, sent: { id: ID } }]);
    expect(await receipts({}, [forCarol, copy])).toMatchObject([{ by: BOB.address, sent: { id: ID } }]);
  });

  it("without an address or other content is verified with the pinned key of its signer", async () => {
    const alone = `# read: ${readHash(bytes(words))}\n`;
    const alice = reader();
    const before = await alice.opened(sealed(alone));
    expect(before).toMatchObject({ message: { address: null }, trust: { trust: "unverified" } });

    await alice.opened(sealed(messageText()));
    const message = await alice.opened(sealed(alone));
    expect(message).toMatchObject({ message: { address: BOB.address, lines: [] }, trust: { trust: "verified" } });
    expect(receiptsAmong([message], [copy], [ALICE.key])).toEqual([
      { id: ID, by: BOB.address, time: null, sent: copy },
    ]);

    alice.answers[BOB.address] = foundFor(BOB, { key: CAROL.kex });
    expect((await alice.opened(sealed(alone))).trust).toMatchObject({ trust: "key-changed", pinned: BOB.kex });
  });

  it.each([
    ["signed with a key of no contact", "", EVE],
    ["signed with a key of two contacts", "", BOB],
    ["with text", "Hello\n", BOB],
    [
      "with lines from two addresses",
      `${messageText({ text: "" })}${messageText({ text: "", from: CAROL.address })}`,
      BOB,
    ],
  ])("stays unverified: %s", async (_name, more, by) => {
    const alice = reader();
    await alice.contacts.pin(foundFor(BOB));
    if (more === "" && by === BOB) await alice.contacts.pin({ ...foundFor(BOB), address: "b@other.example" });
    const message = await alice.opened(sealed(`${more}# read: ${readHash(bytes(words))}\n`, { by }));
    expect(message).toMatchObject({ message: { address: null }, trust: { trust: "unverified" } });
  });

  it.each<[string, MessageOptions]>([
    ["for another message", { events: [createReceipt("0".repeat(64))] }],
    ["from an unverified sender", { by: EVE, from: BOB.address }],
    ["from someone who was not a recipient", { by: CAROL }],
    ["with an invalid hash", { events: [{ name: "read", args: "x" }] }],
  ])("does not count: %s", async (_name, receipt) => {
    expect(await receipts(receipt)).toEqual([]);
  });
});
