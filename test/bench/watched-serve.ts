// test/bench/watched-serve.ts: `eleventy-twtxt serve` with measurements of its processor time and memory (Linux only) under load.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { type Served, SITE_URL, startServe } from "./served-site.js";

export const FEED = `${SITE_URL}/twtxt.txt`;
const PROBE_EVERY_MS = 10;
/** Clock ticks per second in /proc/<pid>/stat, the same on every Linux machine. */
const TICKS_IN_SECOND = 100;
const KIB_IN_MIB = 1024;

/** The response to a mention. */
export interface Answer {
  status: number;
  ms: number;
}

export interface WatchedServe extends Served {
  /** Sends a mention from this address. */
  mention(source: string, address: string): Promise<Answer>;
  /** The number of mentions that it shows. */
  shown(): Promise<number>;
  get(path: string): Promise<void>;
  usage(): Usage;
}

/** The CPU time of a process since its start, and its current memory. */
export interface Usage {
  cpuSeconds: number;
  mebibytes: number;
}

/** Starts `serve` in a folder of {@link writeSite}. */
export async function watchedServe(
  entry: string,
  folder: string,
  args: string[],
  stop: AbortSignal,
): Promise<WatchedServe> {
  return watchServe(await startServe(entry, folder, stop, args));
}

/** Adds the measurements to a running server. */
export function watchServe(served: Served): WatchedServe {
  const pool = new Pool(served.url, { headersTimeout: 60_000 });
  const json = async (path: string) => (await pool.request({ path, method: "GET" })).body.json();
  return {
    ...served,
    async mention(source, address) {
      const start = performance.now();
      const { statusCode, body } = await pool.request({
        path: "/webmention",
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": address },
        body: new URLSearchParams({ source, target: FEED }).toString(),
      });
      await body.dump();
      return { status: statusCode, ms: performance.now() - start };
    },
    async shown() {
      let count = 0;
      for (let after: string | null = ""; after !== null; ) {
        const page: { mentions: unknown[]; next: string | null } = Object(
          await json(`/mentions.json?limit=100${after && `&after=${after}`}`),
        );
        count += page.mentions.length;
        after = page.next;
      }
      return count;
    },
    async get(path) {
      await (await pool.request({ path, method: "GET" })).body.dump();
    },
    usage: () => readUsage(served.pid),
  };
}

/**
 * Fetches a static file of each server repeatedly during an event.
 *
 * @returns the response times of each server, in milliseconds
 */
export async function probeDuring(servers: readonly Served[], event: () => Promise<unknown>): Promise<number[][]> {
  const times = servers.map((): number[] => []);
  let isOver = false;
  const ended = event().finally(() => {
    isOver = true;
  });
  const probes = servers.map(async ({ url }, server) => {
    const pool = new Pool(url);
    while (!isOver) {
      const start = performance.now();
      await (await pool.request({ path: "/", method: "GET" })).body.dump();
      times[server]?.push(performance.now() - start);
      await sleep(PROBE_EVERY_MS);
    }
    await pool.close();
  });
  await Promise.all([ended, ...probes]);
  return times;
}

export function readUsage(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { cpuSeconds: (user + system) / TICKS_IN_SECOND, mebibytes: Number(kib) / KIB_IN_MIB };
}
