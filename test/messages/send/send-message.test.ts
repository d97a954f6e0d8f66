import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { siteApi } from "../../../plugin/http/site-api.js";
import { discoveryPaths } from "../../../plugin/keys/address.js";
import { formatKey } from "../../../plugin/keys/key.js";
import { Inboxes } from "../../../plugin/messages/inbox/inboxes.js";
import { open } from "../../../plugin/messages/index.js";
import { Contacts } from "../../../plugin/messages/lookup/contacts.js";
import { lookup } from "../../../plugin/messages/lookup/lookup.js";
import { parseMessage } from "../../../plugin/messages/plaintext.js";
import { InboxClient } from "../../../plugin/messages/read/inbox-client.js";
import { openMessages } from "../../../plugin/messages/read/read.js";
import { Outbox } from "../../../plugin/messages/send/outbox.js";
import { type MessageToSend, sendMessage } from "../../../plugin/messages/send/send-message.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { hostAt } from "../../helpers/endpoints.js";
import { type LoopbackServer, loopbackServer, strayed } from "../../helpers/loopback.js";
import {
  ALICE,
  BOB,
  CAROL,
  EVE,
  foundFor,
  hostWith,
  MINUTE,
  NOW,
  neighbourhood,
  type Person,
} from "../neighbourhood.js";

const failsWith = (code: string, message = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

afterEach(() => expect(strayed).toEqual([]));

/** A blog with the discovery document and inbox of an address. */
async function blogOf({ address, kex }: Person): Promise<LoopbackServer & { answer: ReturnType<typeof hostAt> }> {
  const [user = "", domain = ""] = address.split("@");
  const inboxUrl = () => `http://${domain}/inbox/${user}`;
  const inbox = new Inboxes({
    store: memoryStore(),
    now: () => NOW,
    authority: domain,
    inboxUrl,
    users: new Map([[user, kex]]),
    limits: { messages: 1000, bytes: 64 * 1024 * 1024, retentionDays: null },
    guests: null,
    subscribe: null,
  });
  const answer = hostAt(`http://${domain}`, inbox.handlers);
  const document = JSON.stringify({ endpoint: `http://${domain}/inbox`, key: kex });
  const server = await loopbackServer(async (request, response) => {
    if (request.url === discoveryPaths(address)[0]) return response.end(document);
    // The document has a different path than the inbox itself.
    if (request.url !== "/inbox") return response.writeHead(404).end();
    const { method = "" } = request;
    const given = await answer(new Request(inboxUrl(), { method, body: await text(request) }));
    return response.writeHead(given.status, Object.fromEntries(given.headers)).end(await given.text());
  });
  return { ...server, answer };
}

/** Alice's machine on a network with these hosts. */
function alice(hosts: Record<string, LoopbackServer>) {
  const store = memoryStore();
  const clock = { time: NOW };
  const now = () => clock.time;
  const network = neighbourhood(hosts);
  const contacts = new Contacts(store, now);
  const outbox = new Outbox({ store, ask: network.ask, now, random: () => 0.5 });
  const look = (address: string) => lookup(address, network);
  const send = (recipients: string[], message: Partial<MessageToSend> = {}) =>
    sendMessage({ recipients, text: "Hello", ...message }, { from: ALICE, lookup: look, contacts, outbox, now });
  return { store, clock, contacts, outbox, send, lookup: look };
}

/** The opened messages of an inbox. */
async function messagesOf(
  { address, key, kex }: Person,
  { answer }: { answer: ReturnType<typeof hostAt> },
  aliceHost: LoopbackServer,
) {
  const endpoint = `http://${address.split("@")[1]}/inbox/${address.split("@")[0]}`;
  const ask = siteApi({
    root: endpoint,
    signer: { publicKey: kex, sign: key.sign },
    fetch: (url, init) => answer(new Request(String(url), init)),
    now: () => NOW,
  });
  const client = new InboxClient({ endpoint, ask, sleep: async () => {} });
  const network = neighbourhood({ "alice.example": aliceHost });
  const options = {
    keys: [key] as const,
    contacts: new Contacts(memoryStore(), () => NOW),
    lookup: (who: string) => lookup(who, network),
  };
  const list = await client.list();
  return Promise.all(await openMessages(list?.messages ?? [], options));
}

describe("sending a message", () => {
  it("reaches all recipients with the same bytes, and each can open and verify it", async () => {
    const [home, bobs, carols] = await Promise.all([blogOf(ALICE), blogOf(BOB), blogOf(CAROL)]);
    const { send, outbox, contacts } = alice({ "bob.example": bobs, "carol.example": carols });
    const sent = await send(["bob@bob.example", "Carol@Carol.example", "BOB@bob.example"], { text: "Hello\nall" });
    expect(sent.reports.map(({ address, state }) => [address, state])).toEqual([
      [BOB.address, "delivered"],
      [CAROL.address, "delivered"],
    ]);
    for (const [who, blog] of [
      [BOB, bobs],
      [CAROL, carols],
    ] as const) {
      expect(await messagesOf(who, blog, home)).toMatchObject([
        {
          id: sent.id,
          message: { address: ALICE.address, lines: [{ time: "2026-11-20T09:00:00Z", text: "Hello\nall" }] },
          signer: ALICE.kex,
          trust: { trust: "verified" },
        },
      ]);
    }
    expect((await contacts.list()).map(({ address, key }) => [address, key])).toEqual([
      [BOB.address, BOB.kex],
      [CAROL.address, CAROL.kex],
    ]);
    expect(await outbox.list()).toEqual([]);
  });

  it("stores a copy that its sender can open", async () => {
    const { send, outbox } = alice({ "bob.example": await blogOf(BOB) });
    const { id } = await send([BOB.address]);
    const [copy, ...others] = await outbox.sent();
    expect([copy?.id, copy?.to, others]).toEqual([id, [BOB.address], []]);
    const { plaintext, sender } = open(copy?.sealed ?? "", { key: ALICE.key });
    expect(formatKey(sender)).toBe(ALICE.kex);
    expect(parseMessage(new TextDecoder().decode(plaintext)).lines).toMatchObject([{ text: "Hello" }]);
    expect(() => open(copy?.sealed ?? "", { key: EVE.key })).toThrow(failsWith("not-a-recipient"));
  });

  it("stores no copy without `keepCopy`", async () => {
    const { send, outbox } = alice({ "bob.example": await blogOf(BOB) });
    await send([BOB.address], { keepCopy: false });
    expect(await outbox.sent()).toEqual([]);
  });

  it("waits in the outbox if the host of a pinned contact does not respond", async () => {
    const down = await loopbackServer((_request, response) => response.destroy());
    const { send, outbox, contacts } = alice({ "bob.example": down });
    await contacts.pin(foundFor(BOB));
    const sent = await send([BOB.address]);
    expect(sent.recipients).toMatchObject([{ key: BOB.kex, endpoint: foundFor(BOB).endpoint, found: null }]);
    expect(sent.reports).toMatchObject([{ state: "waiting", why: expect.stringContaining("could not be reached") }]);
    expect(await outbox.list()).toMatchObject([{ id: sent.id }]);
  });

  it("delivers it later, with the same bytes", async () => {
    const [home, bobs] = await Promise.all([blogOf(ALICE), blogOf(BOB)]);
    const hosts: Record<string, LoopbackServer> = {
      "bob.example": await loopbackServer((_request, response) => response.destroy()),
    };
    const { send, outbox, clock, contacts } = alice(hosts);
    await contacts.pin(foundFor(BOB));
    const { id } = await send([BOB.address]);
    hosts["bob.example"] = bobs;
    clock.time += 10 * MINUTE;
    expect(await outbox.retry({ all: false })).toMatchObject([{ id, state: "delivered" }]);
    expect(await messagesOf(BOB, bobs, home)).toMatchObject([{ id, trust: { trust: "verified" } }]);
    expect([await outbox.list(), (await outbox.sent()).length]).toEqual([[], 1]);
  });
});

describe("a message that is not sent", () => {
  /** Sends a message, and checks that none is stored or delivered. */
  async function failToSend(recipients: string[], message: Partial<MessageToSend> = {}, other?: LoopbackServer) {
    const bobs = await blogOf(BOB);
    const eves = other ?? (await hostWith({}));
    const down = await loopbackServer((_request, response) => response.destroy());
    const author = alice({ "bob.example": bobs, "eve.example": eves, "down.example": down });
    await author.contacts.pin(foundFor(CAROL));
    await author.contacts.pin(foundFor(EVE));
    const error: unknown = await author.send(recipients, message).catch((thrown: unknown) => thrown);
    expect(await author.store.keys("outbox/")).toEqual([]);
    expect(bobs.requests).not.toContain("/inbox");
    return { error, contacts: await author.contacts.list() };
  }

  it("bad-address, no-such-address, unreachable: names each failing recipient", async () => {
    const addresses = [BOB.address, "nobody", EVE.address, "dan@down.example", "fay@fay.example"];
    const { error } = await failToSend(addresses);
    expect(error).toEqual(failsWith("bad-address", '"nobody"'));
    const lines = (error as Error).message.split("\n");
    expect(lines).toHaveLength(4);
    for (const address of addresses.slice(1)) expect(lines.filter((line) => line.includes(address))).toHaveLength(1);
  });

  it.each([
    ["no-such-address", [BOB.address, EVE.address], "eve@eve.example publishes no key"],
    ["unreachable", [BOB.address, "dan@down.example"], "dan@down.example could not be looked up"],
    ["bad-address", [BOB.address, ""], "expected an address"],
    ["bad-usage", [], "1 to 63 recipients, not 0"],
  ])("%s: to %j", async (code, addresses, text) => {
    expect((await failToSend(addresses)).error).toEqual(failsWith(code, text));
  });

  it("bad-usage: more than 63 recipients, without a lookup", async () => {
    const { send } = alice({});
    const many = Array.from({ length: 64 }, (_, number) => `${number}@bob.example`);
    await expect(send(many)).rejects.toThrow(failsWith("bad-usage", "not 64"));
  });

  it("key-changed: a key differs from the pinned one, which stays pinned", async () => {
    const document = { body: JSON.stringify({ endpoint: "https://eve.example/inbox", key: CAROL.kex }) };
    const host = await hostWith({ [discoveryPaths(EVE.address)[0] ?? ""]: document });
    const { error, contacts } = await failToSend([BOB.address, EVE.address], {}, host);
    expect(error).toEqual(failsWith("key-changed", "There is a new key of eve@eve.example"));
    expect(contacts.find(({ address }) => address === EVE.address)?.key).toBe(EVE.kex);
    expect(host.requests).not.toContain("/inbox");
  });

  it("too-large: states the limit, and a text of that size fits", async () => {
    const people = [BOB, CAROL].map(({ address }) => address);
    const sendText = async (length: number) => {
      const { send, outbox } = alice({ "bob.example": await blogOf(BOB), "carol.example": await blogOf(CAROL) });
      await send(people, { text: "a".repeat(length) });
      return outbox.sent();
    };
    const error: unknown = await sendText(60_000).catch((thrown: unknown) => thrown);
    expect(error).toEqual(failsWith("too-large", "The text has 60000 bytes"));
    const fitting = Number(/limit is (\d+) bytes/.exec((error as Error).message)?.[1]);
    expect(fitting).toBeGreaterThan(45_000);
    const [copy] = await sendText(fitting);
    expect(copy?.sealed.length).toBeLessThanOrEqual(64 * 1024);
    await expect(sendText(fitting + 200)).rejects.toThrow(failsWith("too-large"));
    const { error: lineBreaks } = await failToSend([BOB.address], { text: "\n".repeat(20_000) });
    expect(lineBreaks).toEqual(failsWith("too-large", "The text has 60000 bytes"));
  });
});
