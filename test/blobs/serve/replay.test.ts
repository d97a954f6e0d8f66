import { describe, expect, it } from "vitest";
import { signRequest } from "../../../plugin/http/sign-request.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import { ALICE, type AlicesBlobs, API, alicesBlobs, outcomeOf, sha256, storedBlobs } from "../alices-blobs.js";

const REPLAYED = { status: 401, code: "not-signed" };
const RECORD = `blobs/records/${ALICE.publicKey}/${sha256("a")}`;

/** Two processes with the same store and clock. */
function twoProcesses() {
  const store = memoryStore();
  const clock = { time: Date.parse("2026-11-20T09:00:00Z") };
  return { store, clock, first: alicesBlobs({ store, clock }), second: alicesBlobs({ store, clock }) };
}

const putA = (alice: AlicesBlobs) => alice.prepared("PUT", `${API}/a`, { body: "one" });

/** A signed request that can be sent to either process. */
function signedPut(time: number) {
  const [url, body] = [`${API}/a`, Buffer.from("one")];
  const headers = signRequest({ method: "PUT", url, body }, ALICE, time);
  const sent = { method: "PUT", headers: { ...headers, "content-length": "3" }, body };
  return ({ respond }: AlicesBlobs) => respond(new Request(url, sent));
}

describe("a replayed write", () => {
  it("401: another process recognizes it, and its nonce is stored in the record", async () => {
    const { store, clock, first, second } = twoProcesses();
    const send = signedPut(clock.time);
    expect((await send(first)).status).toBe(201);
    expect(await outcomeOf(await send(second))).toEqual(REPLAYED);
    expect(await store.keys("nonces/")).toEqual([]);
  });

  it("401: also after the blob was changed and deleted", async () => {
    const { first } = twoProcesses();
    const put = putA(first);
    expect((await put()).status).toBe(201);
    await first.put("a", "two");
    await first.post("a", { Filename: "b.txt" });
    expect(await outcomeOf(await put())).toEqual(REPLAYED);
    await first.delete("a");
    expect(await outcomeOf(await put())).toEqual(REPLAYED);
    expect((await storedBlobs(first.store)).blobs).toEqual([{ isDeleted: true }]);
  });

  it("401: 29 of 30 concurrent ones, and the other succeeds", async () => {
    const { first } = twoProcesses();
    const put = putA(first);
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await put()).status));
    expect(statuses.sort()).toEqual([201, ...Array(29).fill(401)]);
    expect((await storedBlobs(first.store)).leftovers).toEqual([]);
  });

  it("401: also if the first request was refused", async () => {
    const { store, first } = twoProcesses();
    const deletion = first.prepared("DELETE", `${API}/a`);
    expect((await deletion()).status).toBe(404);
    await first.put("a", "one");
    expect(await outcomeOf(await deletion())).toEqual(REPLAYED);
    expect(await store.keys("nonces/")).toHaveLength(1);
  });
});

describe("the nonces of a record", () => {
  it("are those of requests that have not expired", async () => {
    const { store, clock, first } = twoProcesses();
    const nonces = async () => JSON.parse(Buffer.from((await store.get(RECORD))?.bytes ?? "").toString()).nonces;
    await first.put("a", "one");
    await first.put("a", "two");
    expect(await nonces()).toHaveLength(2);
    clock.time += 361_000;
    await first.put("a", "three");
    expect(await nonces()).toHaveLength(1);
  });
});
