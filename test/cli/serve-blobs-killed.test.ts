import { join } from "node:path";
import * as v from "valibot";
import { expect, it } from "vitest";
import { StoredBlobs } from "../../plugin/blobs/serve/stored.js";
import { readJson } from "../../plugin/store/json.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { eventually } from "../helpers/eventually.js";
import { type BlobServer, blobSite, requestBlob, startBlobServer, temporaryFiles } from "./blob-server.js";
import { put } from "./blob-state.js";
import { type Random, seededRandom, type Writer, writer } from "./blob-writers.js";
import { commentWriter } from "./comment-writer.js";
import { ALICES_DATA, type Blog } from "./helpers.js";
import { serve } from "./server.js";

const KILLS = Number(process.env.KILLS ?? 2);
const CLIENTS = 4;
const DAY_MS = 24 * 3600_000;
const CONTENTS = "blobs/contents/";
const RECORD = v.object({ contents: v.optional(v.string()) });

it(
  `the blobs and comments of serve are those of the acknowledged requests after it was killed ${KILLS} times at random moments`,
  async () => {
    const random = seededRandom(0);
    const site = blobSite();
    const writers = [
      ...Array.from({ length: CLIENTS }, (_, i) => writer(`client-${i}`, seededRandom(i))),
      commentWriter(50, seededRandom(50)),
    ];
    for (let kills = 0; kills < KILLS; kills += 1) {
      const server = await startBlobServer(site);
      await expectIntact(server, site, writers);
      await writeUntilKilled(server, writers, random);
    }
    const server = await serve(site, ["--rate-limit", "0"]);
    await expectIntact({ url: server.url, pid: process.pid }, site, writers);
    await server.end();

    const { all, named } = await sweptADayLater(new SqliteStore(join(site.folder, ALICES_DATA)));
    expect(all).toEqual(named);
    await eventually(async () => expect(temporaryFiles(site)).toEqual([]));
  },
  KILLS * 20_000,
);

/** No blob or comment is lost or mixed, and the first write deletes the temporary files of earlier processes. */
async function expectIntact(server: Pick<BlobServer, "url" | "pid">, site: Blog, writers: Writer[]): Promise<void> {
  const { status } = await requestBlob(server, { key: "first", ...put(0, new Uint8Array()) });
  expect([200, 201]).toContain(status);
  await eventually(async () => {
    const pids = temporaryFiles(site).map((name) => Number(name.split(".")[1]));
    expect(pids.filter((pid) => pid !== server.pid)).toEqual([]);
  });
  expect((await Promise.all(writers.map((writer) => writer.findFaults(server)))).flat()).toEqual([]);
}

/** Kills the server after a random number of steps and a random delay, so that it can be at any point of its work. */
async function writeUntilKilled(server: BlobServer, writers: Writer[], random: Random): Promise<void> {
  let left = 1 + random(60);
  const delay = random(100);
  const step = () => {
    left -= 1;
    if (left === 0) setTimeout(server.kill, delay);
  };
  await Promise.all(writers.map((writer) => writer.write(server, step)));
  await server.kill();
}

/** @returns the keys of all contents after the sweep, and of those that a record names */
async function sweptADayLater(store: StreamingStore): Promise<{ all: string[]; named: string[] }> {
  const clock = { time: Date.now() };
  const blobs = new StoredBlobs({ store, now: () => clock.time, log: () => {} });
  const orphan = await blobs.contents.write({ owner: "kex1", key: "orphan", size: 1 }, oneByte(), () => "");
  expect(await store.keys(CONTENTS)).toContain(orphan.contents);
  clock.time += DAY_MS + 1;
  // A run checks a hundred keys.
  for (let runs = 0; runs < KILLS; runs += 1) await blobs.sweep(() => false);
  const records = await store.keys("blobs/records/");
  const named = await Promise.all(records.map(async (key) => (await readJson(store, key, RECORD))?.value.contents));
  return { all: (await store.keys(CONTENTS)).sort(), named: named.filter((name) => name !== undefined).sort() };
}

async function* oneByte(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1);
}
