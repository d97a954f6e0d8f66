// test/bench/deliveries.ts: deliveries of sealed messages to `eleventy-twtxt serve` and to a bare server.
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { startServer } from "./child.js";
import { startServe, writeSite } from "./served-site.js";
import { median, type Part, percentile, ratio, time } from "./table.js";

/** The numbers of concurrent deliveries. */
const AT_ONCE = [1, 16];
/** Blocks of deliveries before V8 has compiled what they use often. */
const WARM_UPS = 6;
/** Bytes of a message before it is sealed: some lines of text. */
const TEXT_BYTES = 1000;
/** The inbox of a served site. */
export const INBOX = {
  users: ["alice"],
  messages: 100_000,
  megabytes: 10_000,
  retentionDays: 0,
  subscribe: null,
  guests: null,
};

interface Size {
  folder: string;
  /** The number of deliveries in a block. */
  count: number;
  rounds: number;
  stop: AbortSignal;
}

interface Reading {
  perSecond: number;
  /** Milliseconds. */
  times: number[];
}

/**
 * The bare server writes each body into its own file, and syncs it to the disk before it responds with 202, as the inbox does.
 * The difference is the work on the message. The servers take turns.
 */
export async function measureDeliveries(entry: string, { folder, count, rounds, stop }: Size): Promise<Part> {
  const messages = await sealedMessages(entry, count * (WARM_UPS + AT_ONCE.length * rounds));
  const bare = await startServer(
    [...process.execArgv, fileURLToPath(import.meta.url), "bare", join(folder, "bare")],
    stop,
  );
  writeSite(join(folder, "served"), { inbox: INBOX, blobs: null });
  const served = await startServe(entry, join(folder, "served"), stop);
  const rows = [["", "a second", "median", "p99", "ratio"]];
  const figures: Record<string, Reading> = {};
  const most = Math.max(...AT_ONCE);
  const deliverBlocks = async (blocks: number, atOnce: number): Promise<[Reading, Reading][]> => {
    const pairs: [Reading, Reading][] = [];
    for (let block = 0; block < blocks; block += 1) {
      const bodies = messages.splice(0, count);
      const without = await deliver(`http://127.0.0.1:${bare.port}`, bodies, atOnce);
      pairs.push([without, await deliver(served.url, bodies, atOnce)]);
    }
    return pairs;
  };
  const report = (name: string, pairs: readonly [Reading, Reading][]) => {
    const [without, reading] = [medianOf(pairs.map(([bare]) => bare)), medianOf(pairs.map(([, serve]) => serve))];
    figures[`bare, ${name}`] = without;
    figures[`serve, ${name}`] = reading;
    rows.push(rowOf(`bare server, ${name}`, without, without));
    rows.push(rowOf(`eleventy-twtxt serve, ${name}`, reading, without));
  };
  try {
    report(`the first ${count}, ${most} at once`, await deliverBlocks(1, most));
    await deliverBlocks(WARM_UPS - 1, most);
    for (const atOnce of AT_ONCE) report(`${atOnce} at once`, await deliverBlocks(rounds, atOnce));
  } finally {
    bare.end();
    served.end();
  }
  return {
    title: `Deliveries of ${TEXT_BYTES} bytes of text to an inbox, median of ${rounds} blocks of ${count}`,
    rows,
    aims: [],
    note: `Before serve responds to a delivery, it syncs the message and its sender's share to the store's log. The first deliveries wait for V8, which compiles the code that is used often; the median is that of blocks after ${WARM_UPS * count} deliveries.`,
    figures,
  };
}

/** The reading with the median rate. */
function medianOf(readings: readonly Reading[]): Reading {
  const sorted = readings.toSorted((a, b) => a.perSecond - b.perSecond);
  return sorted[sorted.length >> 1] as Reading;
}

function rowOf(name: string, { perSecond, times }: Reading, bare: Reading): string[] {
  return [
    name,
    perSecond.toFixed(0),
    time(median(times)),
    time(percentile(times, 99)),
    ratio(perSecond, bare.perSecond),
  ];
}

type Messages = typeof import("../../plugin/messages/index.js");

/** Sealed messages of {@link TEXT_BYTES}. */
export async function sealedMessages(entry: string, count: number): Promise<string[]> {
  const { seal, secretKey }: Messages = await import(new URL("messages/index.js", entry).href);
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const jwk = [privateKey.export({ format: "jwk" }).d, publicKey.export({ format: "jwk" }).x];
  const sender = secretKey(Buffer.concat(jwk.map((text) => Buffer.from(String(text), "base64url"))));
  return Array.from({ length: count }, () =>
    seal(randomBytes(TEXT_BYTES), { sender, recipients: [sender.publicKey], armor: true }),
  );
}

/** Posts messages to the inbox of a server. */
export async function deliver(url: string, bodies: readonly string[], atOnce: number): Promise<Reading> {
  const pool = new Pool(url, { connections: atOnce });
  const times: number[] = [];
  let next = 0;
  const start = performance.now();
  const sender = async () => {
    for (let at = next++; at < bodies.length; at = next++) {
      const sent = performance.now();
      const { statusCode, body } = await pool.request({
        path: "/inbox/alice",
        method: "POST",
        // From different senders, because one address may fill only a tenth of an inbox.
        headers: { "x-forwarded-for": `192.0.${at >> 8}.${at & 255}` },
        body: bodies[at] ?? "",
      });
      await body.dump();
      if (statusCode !== 202) throw new Error(`The response to a delivery was ${statusCode}.`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
  const perSecond = (bodies.length * 1000) / (performance.now() - start);
  await pool.close();
  return { perSecond, times };
}

async function serveBare(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const file = await open(join(folder, createHash("sha256").update(body).digest("hex")), "wx");
    await file.writeFile(body);
    await file.sync();
    await file.close();
    const names = await open(folder, "r");
    await names.sync();
    await names.close();
    response.writeHead(202).end("The message is kept.\n");
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

const [, script, what, folder = ""] = process.argv;
if (script === fileURLToPath(import.meta.url) && what === "bare") await serveBare(folder);
