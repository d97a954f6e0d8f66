// test/bench/blob-memory.ts: memory use of a server during the upload of a large blob.
import { readFileSync } from "node:fs";
import { bodyOf, LARGE, send } from "./blob-rates.js";
import type { BlobServer, Body } from "./blob-servers.js";

/** Requests for small blobs before the measured large one, so that the memory of the first requests does not count. */
const WARM_UPS = { put: 20, get: 500 };
const KIB_IN_MIB = 1024;

/** The rise of a process's peak memory by a large blob. */
export interface Raise {
  step: "put" | "get";
  server: string;
  mebibytes: number;
}

/** Measures each server and step in a new process. */
export async function memoryOf(starts: (() => Promise<BlobServer>)[], rounds: number): Promise<Raise[]> {
  const raises: Raise[] = [];
  const [small, large] = [bodyOf(1000), bodyOf(LARGE)];
  for (let round = 0; round < rounds; round += 1) {
    for (const step of ["put", "get"] as const) {
      for (const start of starts) {
        const server = await start();
        try {
          raises.push({ step, server: server.name, mebibytes: await raisedBy(server, step, { small, large }) });
        } finally {
          await server.end();
        }
      }
    }
  }
  return raises;
}

async function raisedBy(server: BlobServer, step: Raise["step"], { small, large }: Record<"small" | "large", Body>) {
  const request = async (step: Raise["step"], key: string, body: Body) => {
    const ready = await server.ready(step, key, body);
    if (ready) await send(server, ready, body.bytes.length);
  };
  for (let i = 0; i < WARM_UPS.put; i += 1) await request("put", "small", small);
  for (let i = 0; i < WARM_UPS.get; i += 1) await request("get", "small", small);
  const before = peakMemory(server);
  await request(step, "large", large);
  return peakMemory(server) - before;
}

/** The peak memory of a process, in MiB. */
function peakMemory({ pid }: BlobServer): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / KIB_IN_MIB;
}
