import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { SqliteStore } from "../../../plugin/store/sqlite.js";
import type { StreamingStore } from "../../../plugin/store/store.js";
import { type AlicesBlobs, alicesBlobs, jsonOf, propertiesHeader, sha256, storedBlobs } from "../alices-blobs.js";

const work = mkdtempSync(join(tmpdir(), "twtxt-blobs-"));
afterAll(() => {
  for (const store of opened.splice(0)) store.close();
  rmSync(work, { recursive: true, force: true });
});

const opened: SqliteStore[] = [];

/** A store as that of `eleventy-twtxt serve`, which writes in a thread. */
async function openStore(): Promise<StreamingStore> {
  const store = new SqliteStore(mkdtempSync(join(work, "store-")));
  opened.push(store);
  await store.prepareForServer();
  return store;
}

const CLIENTS = Array.from({ length: 20 }, (_, at) => at);
const TRIES = 3;

function propertiesOf({ headers }: Response): Record<string, string> {
  return JSON.parse(Buffer.from(headers.get("blob-properties") ?? "", "base64").toString());
}

/** Increments a counter: clients with an even number the one in the contents, the others the one in a property. */
async function addOne(alice: AlicesBlobs, client: number): Promise<{ kind: "put" | "post"; status: number }> {
  const read = await alice.get("counter");
  const condition = { "if-match": read.headers.get("etag") ?? "" };
  if (client % 2 === 0) {
    const { status } = await alice.put("counter", String(Number(await read.text()) + 1), condition);
    return { kind: "put", status };
  }
  await read.text();
  const count = String(Number(propertiesOf(read).count) + 1);
  return { kind: "post", status: (await alice.post("counter", { Properties: { count } }, condition)).status };
}

/** Uploads contents whose metadata identifies them, or renames the blob. */
function writeState(alice: AlicesBlobs, client: number): Promise<Response> {
  if (client % 5 === 4) return alice.post("a", { Filename: `name-${client}` });
  // The last ones are so large that the store keeps them in files of their own.
  const contents = `${client} `.repeat(client > 16 ? 40_000 : 1 + client * 7);
  return alice.put("a", contents, {
    "content-type": `text/x-${client}`,
    "blob-properties": propertiesHeader({ digest: sha256(contents), client: String(client) }),
  });
}

/** Reads until the writes are over, and checks that each response is one consistent state. */
async function readUntil(alice: AlicesBlobs, isOver: () => boolean): Promise<number> {
  let reads = 0;
  while (!isOver() || reads === 0) {
    const response = await alice.get("a");
    const contents = await response.text();
    const { digest, client } = propertiesOf(response);
    expect(response.status).toBe(200);
    expect(sha256(contents)).toBe(digest);
    expect(response.headers.get("content-length")).toBe(String(contents.length));
    expect(response.headers.get("content-type")).toBe(`text/x-${client}`);
    const [listed] = (await jsonOf(await alice.list())).blobs;
    expect([listed.sha256, listed.Type]).toEqual([listed.Properties.digest, `text/x-${listed.Properties.client}`]);
    reads += 1;
    // A reader without pauses would make as many requests as the disk is slow.
    await setTimeout(1);
  }
  return reads;
}

describe("twenty concurrent requests", () => {
  it("with a condition: no successful change is lost, and refused ones leave nothing", async () => {
    const store = await openStore();
    const alice = alicesBlobs({ store });
    await alice.put("counter", "0", { "blob-properties": propertiesHeader({ count: "0" }) });
    const outcomes = await Promise.all(
      CLIENTS.map(async (client) => {
        const all = [];
        for (let tries = 0; tries < TRIES; tries += 1) all.push(await addOne(alice, client));
        return all;
      }),
    );
    const successes = (kind: string) => outcomes.flat().filter((one) => one.kind === kind && one.status === 200).length;
    expect(new Set(outcomes.flat().map(({ status }) => status))).toEqual(new Set([200, 412]));

    const last = await alice.get("counter");
    expect(propertiesOf(last)).toEqual({ count: String(successes("post")) });
    expect(await last.text()).toBe(String(successes("put")));
    expect(successes("put") + successes("post")).toBeGreaterThan(0);
    const { blobs, leftovers } = await storedBlobs(store);
    expect([blobs.length, leftovers]).toEqual([1, []]);
  });

  it("without a condition: the last one wins, and readers always see consistent states", async () => {
    const store = await openStore();
    const alice = alicesBlobs({ store });
    await writeState(alice, 0);
    let isOver = false;
    const readers = [1, 2].map(() => readUntil(alice, () => isOver));
    const responses = await Promise.all(CLIENTS.map((client) => writeState(alice, client)));
    isOver = true;
    for (const reads of await Promise.all(readers)) expect(reads).toBeGreaterThan(0);

    expect(responses.map(({ status }) => status)).toEqual(CLIENTS.map(() => 200));
    expect(await readUntil(alice, () => true)).toBe(1);
    const { blobs, leftovers } = await storedBlobs(store);
    expect([blobs.length, leftovers]).toEqual([1, []]);
    expect(await store.keys("blobs/")).toHaveLength(2);
  });

  it("that create a blob: one succeeds, and the others get 412", async () => {
    const store = await openStore();
    const alice = alicesBlobs({ store });
    const responses = await Promise.all(CLIENTS.map((client) => alice.put("a", `${client}`, { "if-none-match": "*" })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(412)]);
    const winner = responses.findIndex(({ status }) => status === 201);
    expect(await (await alice.get("a")).text()).toBe(`${winner}`);
    expect(await storedBlobs(store)).toMatchObject({ blobs: [{ contents: `${winner}` }], leftovers: [] });
  });

  it("that put and delete: the blob is complete or missing, and no contents are left over", async () => {
    const store = await openStore();
    const alice = alicesBlobs({ store });
    await writeState(alice, 0);
    const responses = await Promise.all(
      CLIENTS.map((client) => (client % 2 ? alice.delete("a") : alice.put("a", `${client}`))),
    );
    for (const { status } of responses) expect([200, 201, 404]).toContain(status);
    const response = await alice.get("a");
    const { blobs, leftovers } = await storedBlobs(store);
    expect(leftovers).toEqual([]);
    expect(blobs).toEqual([
      response.status === 200 ? expect.objectContaining({ contents: await response.text() }) : { isDeleted: true },
    ]);
    expect([200, 404]).toContain(response.status);
  });
});
