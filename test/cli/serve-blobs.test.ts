import { statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { blobServices } from "../../plugin/host/blobs.js";
import { type NodeServer, nodeServer } from "../../plugin/host/node-server.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { endpoint, hostAt } from "../helpers/endpoints.js";
import {
  type BlobResponse,
  type BlobServer,
  blobSite,
  LIMITS,
  requestBlob,
  SETTINGS,
  startBlobServer,
  temporaryFiles,
} from "./blob-server.js";
import { contentsOf, put, readText, textOf } from "./blob-state.js";
import { ALICES_DATA, type Blog } from "./helpers.js";
import { serve } from "./server.js";

const MIB = 2 ** 20;
const KEY = "quinces";
const PATIENCE_MS = 30_000;
const servers: Pick<NodeServer, "close">[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function started(site: Blog): Promise<BlobServer> {
  const server = await startBlobServer(site);
  servers.push({ close: server.kill });
  return server;
}

/** The keys of the blob contents in a site's store. */
function contentsIn({ folder }: Blog): Promise<string[]> {
  return new SqliteStore(join(folder, ALICES_DATA)).keys("blobs/contents/");
}

/** Resolves when the server has started to write the request's body. */
async function waitForWrite(site: Blog): Promise<void> {
  const sizes = () => {
    const files = temporaryFiles(site).map((name) => join(site.folder, ALICES_DATA, "files", name));
    return files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  };
  await expect.poll(() => Math.max(0, ...sizes())).toBeGreaterThan(0);
}

describe("a PUT request", () => {
  const state = { contents: contentsOf(1, MIB), metadataNumber: 1 };

  it.each([
    ["no blob", null],
    ["the previous blob", state],
  ])("that the client aborts leaves %s, and no temporary file", async (_name, before) => {
    const site = blobSite();
    const server = await serve(site);
    // The first write creates the folder.
    await requestBlob(server, { key: "other", ...put(1, new Uint8Array()) });
    if (before) await requestBlob(server, { key: KEY, ...put(before.metadataNumber, before.contents) });
    let pieces = 0;
    const onPiece = async () => {
      pieces += 1;
      if (pieces < 20) return;
      await waitForWrite(site);
      throw new Error("aborted");
    };
    await expect(requestBlob(server, { key: KEY, ...put(2, contentsOf(2, 3 * MIB)), onPiece })).rejects.toThrow();
    await expect.poll(() => temporaryFiles(site)).toEqual([]);
    expect(await readText(server, KEY)).toBe(textOf(before));
    expect(await contentsIn(site)).toHaveLength(before ? 2 : 1);
  });

  it("408 too-slow: that stalls leaves the previous blob, and no temporary file", async () => {
    const site = blobSite();
    const { handlers } = blobServices({
      settings: { ...SETTINGS, blobs: LIMITS },
      store: new SqliteStore(join(site.folder, ALICES_DATA)),
      authority: "alice.example",
      now: Date.now,
      log: () => {},
      purge: null,
    });
    const server = await nodeServer({
      port: 0,
      host: "127.0.0.1",
      origin: "https://alice.example",
      findEndpoint: () => endpoint(hostAt("https://alice.example", handlers)),
      serveFile: (_, response) => void response.writeHead(404).end(),
      rateLimit: () => null,
      trustedProxies: 0,
      patienceMs: PATIENCE_MS,
      log: () => {},
    });
    servers.push(server);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const place = { url: `http://127.0.0.1:${server.port}` };
    await requestBlob(place, { key: KEY, ...put(1, state.contents) });
    let pieces = 0;
    const onPiece = () => {
      pieces += 1;
      return pieces < 20 ? null : new Promise(() => {});
    };
    const answers: BlobResponse[] = [];
    const response = requestBlob(place, { key: KEY, ...put(2, contentsOf(2, 3 * MIB)), onPiece });
    response.then((answer) => answers.push(answer));
    await waitForWrite(site);
    while (answers.length === 0) {
      vi.advanceTimersByTime(PATIENCE_MS);
      await setImmediate();
    }
    expect(answers.map(({ status, body }) => [status, JSON.parse(`${body}`).code])).toEqual([[408, "too-slow"]]);
    expect(temporaryFiles(site)).toEqual([]);
    expect(await readText(place, KEY)).toBe(textOf(state));
    expect(await contentsIn(site)).toHaveLength(1);
  });

  it("that a killed server was storing leaves temporary files, which the next server's first write deletes", async () => {
    const site = blobSite();
    const server = await started(site);
    await requestBlob(server, { key: KEY, ...put(1, state.contents) });
    let pieces = 0;
    const onPiece = async () => {
      pieces += 1;
      if (pieces < 20) return;
      await waitForWrite(site);
      await server.kill();
    };
    await expect(requestBlob(server, { key: KEY, ...put(2, contentsOf(2, 3 * MIB)), onPiece })).rejects.toThrow();
    expect(temporaryFiles(site)).toHaveLength(1);

    const again = await serve(site);
    expect(await readText(again, KEY)).toBe(textOf(state));
    await requestBlob(again, { key: "other", ...put(1, new Uint8Array()) });
    await expect.poll(() => temporaryFiles(site)).toEqual([]);
    expect(await readText(again, KEY)).toBe(textOf(state));
  });
});

describe.runIf(process.platform === "linux")("the memory of the server process", () => {
  const MOST = 32 * MIB;
  const LARGE = 40 * MIB;

  it("does not grow with the size of a blob that is written or read", async () => {
    const server = await started(blobSite());
    const small = contentsOf(1, MIB);
    for (let round = 0; round < 8; round += 1) {
      const keys = ["a", "b", "c", "d"].map((name) => `${name}${round}`);
      await Promise.all(keys.map((key) => requestBlob(server, { key, method: "PUT", body: small })));
      await Promise.all(keys.map((key) => requestBlob(server, { key, method: "GET" })));
    }
    const before = server.peakMemory();
    const large = Buffer.alloc(LARGE, small);
    expect((await requestBlob(server, { key: KEY, method: "PUT", body: large })).status).toBe(201);
    const afterPut = server.peakMemory();
    const { body } = await requestBlob(server, { key: KEY, method: "GET" });
    expect(body.equals(large)).toBe(true);
    expect(before).toBeGreaterThan(0);
    expect(afterPut - before).toBeLessThan(MOST);
    expect(server.peakMemory() - before).toBeLessThan(MOST);
  });
});
