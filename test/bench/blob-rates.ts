// test/bench/blob-rates.ts: blob uploads and downloads per second for several servers.
import { createHash, randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { type BlobServer, type Body, MOST_AT_ONCE, type ReadyRequest, type Step } from "./blob-servers.js";

/** The work of one block; the servers take turns. */
export interface Work {
  name: string;
  bytes: number;
  atOnce: number;
  puts: number;
  gets: number;
}

/** The size of the largest blob, in bytes. */
export const LARGE = 100 * 2 ** 20;
/** Small requests are numerous, because the first thousands mostly measure how V8 compiles their code. */
export const WORKS: Work[] = [
  { name: "1 KB", bytes: 1000, atOnce: 1, puts: 200, gets: 200 },
  { name: `1 KB, ${MOST_AT_ONCE} at once`, bytes: 1000, atOnce: MOST_AT_ONCE, puts: 400, gets: 400 },
  { name: "1 MB", bytes: 1e6, atOnce: 1, puts: 10, gets: 60 },
  { name: `1 MB, ${MOST_AT_ONCE} at once`, bytes: 1e6, atOnce: MOST_AT_ONCE, puts: 16, gets: 96 },
  { name: "100 MiB", bytes: LARGE, atOnce: 1, puts: 1, gets: 1 },
];
/** Rounds before those that count, of small and of larger blobs. */
const WARM_UPS = { small: 5, large: 1 };
const STEPS = ["put", "get", "shared", "delete"] as const;
/** Smaller blobs are not deleted: ext4 writes files more slowly for five seconds after a deletion. */
const FREED_BYTES = 1e6;

export interface Rate {
  work: string;
  step: Step;
  server: string;
  perSecond: number;
}

/** Each work begins with a warm-up. */
export async function ratesOf(servers: readonly BlobServer[], rounds: number, stop: AbortSignal): Promise<Rate[]> {
  const rates: Rate[] = [];
  for (const work of WORKS) {
    const body = bodyOf(work.bytes);
    const warmUps = work.bytes < FREED_BYTES ? WARM_UPS.small : WARM_UPS.large;
    for (let round = 0; round < warmUps + rounds; round += 1) {
      const found = await oneRound(servers, { work, body, round }, stop);
      if (round >= warmUps) rates.push(...found);
    }
  }
  return rates;
}

interface Round {
  work: Work;
  body: Body;
  round: number;
}

/** The servers take turns, so that other load of the machine affects all of them. */
async function oneRound(servers: readonly BlobServer[], round: Round, stop: AbortSignal): Promise<Rate[]> {
  const rates: Rate[] = [];
  for (const step of round.work.bytes < FREED_BYTES ? STEPS.filter((step) => step !== "delete") : STEPS) {
    for (const server of servers) {
      if (stop.aborted) throw new Error("stopped");
      const requests = await requestsOf(server, step, round);
      if (requests.length === 0) continue;
      const perSecond = await rateOf(server, requests, round.work);
      rates.push({ work: round.work.name, step, server: server.name, perSecond });
    }
  }
  return rates;
}

/** Requests are signed before the measurement, because the client shares the machine with the servers. */
async function requestsOf(server: BlobServer, step: Step, { work, body, round }: Round): Promise<ReadyRequest[]> {
  const { bytes, atOnce, puts, gets } = work;
  const requests: ReadyRequest[] = [];
  for (let i = 0; i < (isReading(step) ? gets : puts); i += 1) {
    const request = await server.ready(step, `${bytes}-${atOnce}-${round}-${i % puts}`, body);
    if (request) requests.push(request);
  }
  return requests;
}

async function rateOf(server: BlobServer, requests: readonly ReadyRequest[], { bytes, atOnce }: Work): Promise<number> {
  const left = [...requests];
  const sender = async () => {
    for (let request = left.shift(); request; request = left.shift()) await send(server, request, bytes);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: atOnce }, sender));
  return (requests.length * 1000) / (performance.now() - start);
}

/**
 * Sends a request, and reads the whole response.
 *
 * @param size - the length of the response body of a GET, in bytes
 */
export async function send({ pool, name }: BlobServer, request: ReadyRequest, size: number): Promise<void> {
  let status = 0;
  let bytes = 0;
  await pool.stream(request, ({ statusCode }) => {
    status = statusCode;
    return new Writable({
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done();
      },
    });
  });
  if (status < 300 && (request.method !== "GET" || bytes === size)) return;
  throw new Error(`${name} responded to ${request.method} with ${status} and ${bytes} bytes.`);
}

export function bodyOf(length: number): Body {
  const bytes = randomBytes(length);
  return { bytes, sha256: createHash("sha256").update(bytes).digest() };
}

function isReading(step: Step): boolean {
  return step === "get" || step === "shared";
}
