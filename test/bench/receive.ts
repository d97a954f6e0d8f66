// test/bench/receive.ts: receiving classic webmentions, by `eleventy-twtxt serve` and by a bare server (Linux only).
import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Pool, request } from "undici";
import { wordsFrom } from "./blog.js";
import { type Child, startServer } from "./child.js";
import { prepareStore } from "./received.js";
import { SITE_URL, startServe, writeSite } from "./served-site.js";
import { median, type Part, ratio, time } from "./table.js";
import { readUsage } from "./watched-serve.js";

const TARGET = `${SITE_URL}/posts/hens/`;
const AT_ONCE = 4;
const WARM_UPS = 50;
/** The stored mentions that are there before, and the processes that share the store. */
const SITES = [
  { stored: 100, processes: 1 },
  { stored: 100_000, processes: 1 },
  { stored: 100, processes: 4 },
];

interface Size {
  folder: string;
  /** Mentions of a round for each process: a new one costs more until its code is compiled. */
  count: number;
  rounds: number;
  stop: AbortSignal;
}

/** Servers in processes of their own, which receive mentions at `/webmention`, in turn. */
interface Receiver {
  name: string;
  servers: readonly Child[];
  pools: readonly Pool[];
  /** Milliseconds of processor time for a mention, by round. */
  costs: number[];
}

/**
 * The bare server fetches the source with undici, parses it with microformats-parser, looks for the link, writes the mention into its
 * own file and syncs it before it responds. The difference is what keeps strangers from doing harm, and what conversations need.
 */
export async function measureReceiving(entry: string, { folder, count, rounds, stop }: Size): Promise<Part> {
  const run = (...values: string[]) =>
    startServer([...process.execArgv, fileURLToPath(import.meta.url), ...values], stop);
  const sources = await run("sources");
  const receivers: Receiver[] = [];
  try {
    receivers.push(asReceiver("bare server", [await run("bare", join(folder, "bare"))]));
    for (const { stored, processes } of SITES) {
      const site = join(folder, `${stored}-${processes}`);
      const servers = await startFilled(entry, { site, stored, processes, sources, stop });
      const name = `eleventy-twtxt serve, ${stored.toLocaleString("en")} stored before`;
      receivers.push(asReceiver(processes === 1 ? name : `${name}, ${processes} processes`, servers));
    }
    let next = 0;
    for (let round = -1; round < rounds; round += 1) {
      for (const receiver of receivers) {
        const first = next;
        next += (round < 0 ? WARM_UPS : count) * receiver.servers.length;
        const before = sumCpuSeconds(receiver);
        await send(receiver.pools, sources.port, { first, end: next });
        const cost = ((sumCpuSeconds(receiver) - before) * 1000) / (next - first);
        if (round >= 0) receiver.costs.push(cost);
      }
    }
    return toPart(receivers, { count, rounds });
  } finally {
    for (const { servers, pools } of receivers) {
      for (const { end } of servers) end();
      for (const pool of pools) await pool.destroy();
    }
    sources.end();
  }
}

function asReceiver(name: string, servers: readonly Child[]): Receiver {
  const pools = servers.map(({ port }) => new Pool(`http://127.0.0.1:${port}`, { connections: AT_ONCE }));
  return { name, servers, pools, costs: [] };
}

function sumCpuSeconds({ servers }: Receiver): number {
  return servers.reduce((sum, { pid }) => sum + readUsage(pid).cpuSeconds, 0);
}

async function startFilled(
  entry: string,
  {
    site,
    stored,
    processes,
    sources,
    stop,
  }: { site: string; stored: number; processes: number; sources: Child; stop: AbortSignal },
): Promise<Child[]> {
  const store = join(site, "store");
  mkdirSync(store, { recursive: true });
  await prepareStore(entry, { folder: store, count: stored, runs: 1, stop });
  writeSite(site, { inbox: null, blobs: null, isReceiver: true, pages: [TARGET] });
  const options = ["--store", store, "--allow-private-host", `127.0.0.1:${sources.port}`];
  const servers: Child[] = [];
  while (servers.length < processes) {
    const { url, pid, end } = await startServe(entry, site, stop, options);
    servers.push({ port: Number(new URL(url).port), pid, end });
  }
  return servers;
}

function toPart(receivers: readonly Receiver[], { count, rounds }: { count: number; rounds: number }): Part {
  const costs = receivers.map((receiver) => median(receiver.costs));
  const memory = receivers.map(({ servers }) => Math.max(...servers.map(({ pid }) => readUsage(pid).mebibytes)));
  const [bare = Number.NaN, few = Number.NaN, many = Number.NaN, shared = Number.NaN] = costs;
  const rows = receivers.map(({ name }, at) => {
    const cost = costs[at] ?? Number.NaN;
    return [name, time(cost), ratio(cost, bare), `${memory[at]?.toFixed(0)} MiB`];
  });
  return {
    title: `Receiving ${count} mentions from pages in each process, ${AT_ONCE} at once, median of ${rounds}`,
    rows: [["", "CPU a mention", "ratio", "memory"], ...rows],
    aims: [
      { what: "Compared with a bare server", aim: "at most 2 x", reached: ratio(few, bare) },
      { what: "With 100,000 stored mentions, compared with 100", aim: "at most 1.2 x", reached: ratio(many, few) },
      { what: "Memory with 100,000", aim: "below 300 MiB", reached: `${memory[2]?.toFixed(0)} MiB` },
      { what: "Four processes, compared with one", aim: "at most 1.5 x", reached: ratio(shared, few) },
    ],
    figures: receivers.map(({ name, costs }, at) => ({ name, costs, memory: memory[at] })),
  };
}

/** Sends mentions from different addresses, because one address may only send some. Each is received when its response comes. */
async function send(
  pools: readonly Pool[],
  port: number,
  { first, end }: { first: number; end: number },
): Promise<void> {
  let next = first;
  const sender = async () => {
    for (let number = next++; number < end; number = next++) {
      const source = `http://127.0.0.1:${port}/posts/${number}/`;
      const pool = pools[number % pools.length] as Pool;
      const { statusCode, body } = await pool.request({
        path: "/webmention",
        method: "POST",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "x-forwarded-for": `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
        },
        body: new URLSearchParams({ source, target: TARGET }).toString(),
      });
      const answer = await body.text();
      if (statusCode !== 201 && statusCode !== 200)
        throw new Error(`The response to a mention was ${statusCode}: ${answer}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
}

/** A page of a blog with a post that replies to the target. */
function toPage(path: string): string {
  const number = Number(/\d+/.exec(path)?.[0] ?? 0);
  const links = Array.from({ length: 20 }, (_, link) => `<li><a href="/posts/${link}/">${wordsFrom(link)(4)}</a></li>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Post ${number}</title><link rel="stylesheet" href="/style.css"></head>
<body><header><a href="/">Bob</a><nav><ul>${links.join("\n")}</ul></nav></header>
<article class="h-entry"><h1 class="p-name">Post ${number}</h1>
<p><a class="p-author h-card" href="/author/${number}/">Bob ${number}</a>, <time class="dt-published" datetime="2026-11-01T09:30:00Z">1 November</time></p>
<p><a class="u-in-reply-to" href="${TARGET}">The hens</a></p>
<div class="e-content"><p>${wordsFrom(number)(120)}</p><p>${wordsFrom(number + 1)(80)}</p></div>
<a class="u-url" href="/posts/${number}/">Permalink</a></article></body></html>`;
}

function listenTo(listener: RequestListener): void {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.on("disconnect", () => process.exit());
}

async function serveBare(folder: string): Promise<void> {
  const { mf2 } = await import("microformats-parser");
  mkdirSync(folder, { recursive: true });
  let number = 0;
  const receive = async (form: URLSearchParams) => {
    const [source = "", target = ""] = [form.get("source") ?? "", form.get("target") ?? ""];
    const { body } = await request(source);
    const page = await body.text();
    const { items } = mf2(page, { baseUrl: source });
    if (!page.includes(target)) return 400;
    const file = await open(join(folder, String(number++)), "wx");
    await file.writeFile(JSON.stringify({ source, target, items }));
    await file.sync();
    await file.close();
    return 201;
  };
  listenTo(async (asked, response) => {
    response.writeHead(await receive(new URLSearchParams(await text(asked)))).end("The mention is kept.\n");
  });
}

const [, script, what, folder = ""] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  if (what === "bare") await serveBare(folder);
  else listenTo(({ url = "" }, response) => response.setHeader("content-type", "text/html").end(toPage(url)));
}
