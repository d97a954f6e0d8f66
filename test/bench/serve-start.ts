// test/bench/serve-start.ts: the start and the memory of `eleventy-twtxt serve`, compared with a bare server of Node.
import { Pool } from "undici";
import { startServer } from "./child.js";
import { INBOX } from "./deliveries.js";
import { startServe, writeSite } from "./served-site.js";
import { median, type Part, range, ratio, time } from "./table.js";
import { readUsage } from "./watched-serve.js";

const BARE = `const server = require("node:http").createServer((request, response) => response.end("home"));
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());`;

interface Reading {
  /** Until the first response, in milliseconds. */
  wall: number;
  cpu: number;
  mebibytes: number;
}

/** Starts both in turn. The site of `serve` has an inbox, and receives mentions. */
export async function measureServeStart(
  entry: string,
  { folder, runs, stop }: { folder: string; runs: number; stop: AbortSignal },
): Promise<Part> {
  writeSite(folder, { inbox: INBOX, blobs: null, isReceiver: true });
  const servers = [
    { name: "a bare server", start: startBare, readings: [] as Reading[] },
    { name: "eleventy-twtxt serve", start: () => startServe(entry, folder, stop), readings: [] as Reading[] },
  ];
  // The first start of each fills the caches of the disk.
  for (let run = 0; run <= runs; run += 1) {
    for (const { start, readings } of servers) {
      const reading = await readStart(start);
      if (run > 0) readings.push(reading);
    }
  }
  async function startBare() {
    const { port, ...server } = await startServer(["--eval", BARE], stop);
    return { ...server, url: `http://127.0.0.1:${port}` };
  }
  const [bare] = servers;
  const read = (readings: readonly Reading[] = [], key: keyof Reading) => readings.map((each) => each[key]);
  const rows = servers.map(({ name, readings }) => [
    name,
    time(median(read(readings, "wall"))),
    range(read(readings, "wall")),
    ratio(median(read(readings, "wall")), median(read(bare?.readings, "wall"))),
    time(median(read(readings, "cpu"))),
    `${median(read(readings, "mebibytes")).toFixed(0)} MiB`,
  ]);
  return {
    title: `From the start of a server to its first response, median of ${runs}`,
    rows: [["", "wall", "min to max", "ratio", "CPU", "memory"], ...rows],
    aims: [],
    figures: servers.map(({ name, readings }) => ({ name, readings })),
  };
}

async function readStart(start: () => Promise<{ url: string; pid: number; end(): void }>): Promise<Reading> {
  const begun = performance.now();
  const { url, pid, end } = await start();
  const pool = new Pool(url);
  try {
    await (await pool.request({ path: "/", method: "GET" })).body.dump();
    const wall = performance.now() - begun;
    const { cpuSeconds, mebibytes } = readUsage(pid);
    return { wall, cpu: cpuSeconds * 1000, mebibytes };
  } finally {
    end();
    await pool.close();
  }
}
