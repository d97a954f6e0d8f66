// bench/blob-memory.ts: memory use of a server during the upload of a large blob.
import { readFileSync } from "node:fs";
import { bodyOf, LARGE, send } from "./blob-rates.js";
import type { BlobServer, Body } from "./blob-servers.js";

/** Small blobs before the measured large one, so that the memory of the first requests is not counted. */
const WARM_UPS = { put: 20, get: 500 };
const KIB_IN_MIB = 1024;

/** By how many MiB a large one raises the most that a process has had. */
export interface Raise {
  step: "put" | "get";
  server: string;
  mebibytes: number;
}

/** A new process for each measurement. */
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
  const ask = async (step: Raise["step"], key: string, body: Body) => {
    const request = await server.ready(step, key, body);
    if (request) await send(server, request, body.bytes.length);
  };
  for (let i = 0; i < WARM_UPS.put; i += 1) await ask("put", "small", small);
  for (let i = 0; i < WARM_UPS.get; i += 1) await ask("get", "small", small);
  const before = mostMemory(server);
  await ask(step, "large", large);
  return mostMemory(server) - before;
}

/** The most memory that a process has had, in MiB. */
function mostMemory({ pid }: BlobServer): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / KIB_IN_MIB;
}
