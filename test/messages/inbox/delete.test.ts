import { describe, expect, it } from "vitest";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { faultyStore } from "../../helpers/faulty-store.js";
import { ALICE, alicesInbox, CAROL, DAY, EVE, INBOX, idOf, sealed } from "./alices-inbox.js";

const MESSAGES = "inbox/alice/messages/";
const ID = idOf(sealed(1));
const URL_OF_ONE = `${INBOX}/${ID}`;
const ROOMY = { messages: 1000, bytes: 64 * 1024 * 1024 };
const never = () => false;

describe("deleting a message", () => {
  it("200: only this message is deleted, and deleting it again succeeds", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(1), sealed(2));
    expect(await alice.delete(ID)).toEqual({ status: 200, json: { deleted: true } });
    expect(await alice.delete(ID)).toEqual({ status: 200, json: { deleted: false } });
    expect(await alice.ids()).toEqual([idOf(sealed(2))]);
    expect(await alice.store.keys(MESSAGES)).toHaveLength(1);
  });

  it.each([
    ["an unknown id", ID],
    ["an invalid id", "x"],
    ["an id in upper case", ID.toUpperCase()],
    ["an empty id", ""],
  ])("404: %s", async (_, id) => {
    const alice = alicesInbox();
    await alice.receive(sealed(2));
    expect(await alice.delete(id)).toMatchObject({ status: 404, json: { code: "not-found" } });
    expect(await alice.ids()).toEqual([idOf(sealed(2))]);
  });

  it("401 and 403: the request has no current signature by Alice for this message", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(1));
    for (const [options, status] of [
      [{ signer: null }, 401],
      [{ signedAt: alice.clock.time - 420_000 }, 401],
      [{ signer: EVE }, 403],
      [{ signer: CAROL }, 403],
    ] as const) {
      expect((await alice.ask("DELETE", URL_OF_ONE, options)).status).toBe(status);
    }
    const elsewhere = URL_OF_ONE.replace("alice.example", "bob.example");
    const headers = signRequest({ method: "DELETE", url: elsewhere }, ALICE, alice.clock.time);
    expect((await alice.answer(new Request(URL_OF_ONE, { method: "DELETE", headers }))).status).toBe(401);
    expect(await alice.ids()).toEqual([ID]);
  });

  it("401: a replayed request", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(1));
    const headers = signRequest({ method: "DELETE", url: URL_OF_ONE }, ALICE, alice.clock.time);
    const send = () => alice.answer(new Request(URL_OF_ONE, { method: "DELETE", headers }));
    expect((await send()).status).toBe(200);
    expect((await send()).status).toBe(401);
  });

  it.each([
    ["before the id is recorded", { when: "before", operation: "put", key: "inbox/" }],
    ["after the id was recorded", { when: "after", operation: "put", key: "inbox/" }],
    ["before the message is deleted", { when: "before", operation: "delete", key: MESSAGES }],
    ["after the message was deleted", { when: "after", operation: "delete", key: MESSAGES }],
  ] as const)("503: the store fails %s, and a retry deletes the message permanently", async (_, fault) => {
    const store = faultyStore(memoryStore());
    const alice = alicesInbox({ store });
    await alice.receive(sealed(1));
    store.fail(fault);
    expect(await alice.delete(ID)).toMatchObject({ status: 503, json: { code: "store-failed" } });
    store.repair();

    const isGone = fault.operation === "delete" && fault.when === "after";
    expect(await alice.delete(ID)).toEqual({ status: 200, json: { deleted: !isGone } });
    expect(await alice.ids()).toEqual([]);
    await alice.receive(sealed(1));
    expect(await alice.ids()).toEqual([]);
  });

  it("is completed by a sweep if it was interrupted", async () => {
    const store = faultyStore(memoryStore());
    const alice = alicesInbox({ store });
    await alice.receive(sealed(1), sealed(2));
    store.fail({ when: "before", operation: "delete", key: MESSAGES });
    await alice.delete(ID);
    store.repair();
    await alice.sweep(never);
    expect(await alice.ids()).toEqual([idOf(sealed(2))]);
  });
});

describe("retention", () => {
  it("deletes messages after the configured days, and none without the option", async () => {
    const store = memoryStore();
    const alice = alicesInbox({ store, limits: { ...ROOMY, retentionDays: 30 } });
    const bodies = Array.from({ length: 60 }, (_, n) => sealed(n));
    await alice.receive(...bodies);
    alice.clock.step(30 * DAY - 60);
    await alice.receive(sealed(60));
    await alicesInbox({ store, clock: alice.clock }).sweep(never);
    expect(await alice.ids()).toHaveLength(61);

    alice.clock.step(58);
    await alice.sweep(never);
    expect(await alice.ids()).toEqual([idOf(sealed(59)), idOf(sealed(60))]);
    await alice.receive(...bodies);
    expect(await alice.ids()).toEqual([idOf(sealed(59)), idOf(sealed(60))]);
  });

  it("stops when its time is up, and continues in the next run", async () => {
    const alice = alicesInbox({ limits: { ...ROOMY, retentionDays: 1 } });
    await alice.receive(...Array.from({ length: 60 }, (_, n) => sealed(n)));
    alice.clock.step(2 * DAY);
    await alice.sweep(() => true);
    expect(await alice.store.keys(MESSAGES)).toHaveLength(60);
    let checks = 0;
    await alice.sweep(() => ++checks > 2);
    expect(await alice.store.keys(MESSAGES)).toHaveLength(10);
    await alice.sweep(never);
    expect(await alice.store.keys(MESSAGES)).toEqual([]);
  });

  it("removes ids that were deleted long ago, until its time is up", async () => {
    const alice = alicesInbox();
    await alice.receive(sealed(1), sealed(2), sealed(3));
    for (const id of await alice.ids()) await alice.delete(id);
    alice.clock.step(130 * DAY);
    let checks = 0;
    await alice.sweep(() => ++checks > 2);
    expect(await alice.store.keys("inbox/alice/deleted/")).toHaveLength(2);
    await alice.sweep(never);
    expect(await alice.store.keys("inbox/")).toEqual([]);
  });

  it("throws if the store fails, so that the host can report it", async () => {
    const store = faultyStore(memoryStore());
    const alice = alicesInbox({ store });
    store.fail({ when: "before", operation: "keys" });
    await expect(alice.sweep(never)).rejects.toMatchObject({ code: "store-failed" });
    await expect(alice.news()).rejects.toMatchObject({ code: "store-failed" });
  });
});
