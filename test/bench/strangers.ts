// test/bench/strangers.ts: third-party servers in their own process.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startServer } from "./child.js";
import { mentioningFeed } from "./feed.js";

/** The feed that the feed of {@link startFeed} mentions. */
export const OUR_FEED = "https://dora.example/twtxt.txt";

/** The response time of a host of {@link startHosts}, in milliseconds. */
export const DELAY = 100;

/** The requests that the hosts received since the last report. */
export interface Report {
  /** The number of requests of each host that received any. */
  requests: number[];
  mentions: number;
  /** The most concurrent requests: to all hosts, and to one. */
  atOnce: number;
  atOnceOfOne: number;
}

export interface Strangers {
  port: number;
  end(): void;
}

/** Serves a feed of a megabyte at every path of 127.0.0.1. */
export function startFeed(stop: AbortSignal): Promise<Strangers> {
  return start(["feed"], stop);
}

/**
 * Serves slow hosts, each with an endpoint and a feed that names it. 127.0.0.1 responds without a delay: to `/twtxt.txt`,
 * each of whose recent twts mentions one of the hosts, and to `/report`.
 */
export function startHosts(hosts: number, mentions: number, stop: AbortSignal): Promise<Strangers> {
  return start(["hosts", String(hosts), String(mentions)], stop);
}

/** The address of a host. All of 127.0.0.0/8 is this machine, on Linux. */
export function addressOf(host: number): string {
  return `127.0.${1 + Math.floor(host / 250)}.${1 + (host % 250)}`;
}

function start(values: string[], stop: AbortSignal): Promise<Strangers> {
  return startServer([...process.execArgv, fileURLToPath(import.meta.url), ...values], stop);
}

async function listen(address: string, port: number, listener: RequestListener): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener);
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, address, resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function serveFeed(): Promise<number> {
  const { bytes } = mentioningFeed(OUR_FEED);
  return listen("127.0.0.1", 0, (_request, response) => {
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", "content-length": bytes.length });
    response.end(bytes);
  });
}

async function serveHosts(hosts: number, mentions: number): Promise<number> {
  const tally = talliesOf(hosts);
  const port = await listen("127.0.0.1", 0, (request, response) => {
    response.setHeader("content-type", "text/plain; charset=utf-8");
    response.end(request.url === "/report" ? JSON.stringify(tally.report()) : feedMentioning(hosts, mentions, port));
  });
  for (let host = 0; host < hosts; host += 1) {
    await listen(addressOf(host), port, async (request, response) => {
      const isMention = request.method === "POST";
      request.resume();
      tally.begin(host);
      await sleep(DELAY);
      tally.end(host, isMention);
      response.writeHead(isMention ? 202 : 200, { "content-type": "text/plain; charset=utf-8" });
      response.end(isMention ? "" : feedOfHost(host, port));
    });
  }
  return port;
}

function talliesOf(hosts: number) {
  const now = new Array<number>(hosts).fill(0);
  let requests = new Array<number>(hosts).fill(0);
  let [total, mentions, atOnce, atOnceOfOne] = [0, 0, 0, 0];
  const at = (values: number[], host: number) => values[host] ?? 0;
  return {
    begin(host: number) {
      total += 1;
      now[host] = at(now, host) + 1;
      requests[host] = at(requests, host) + 1;
      atOnce = Math.max(atOnce, total);
      atOnceOfOne = Math.max(atOnceOfOne, at(now, host));
    },
    end(host: number, isMention: boolean) {
      total -= 1;
      now[host] = at(now, host) - 1;
      if (isMention) mentions += 1;
    },
    report(): Report {
      const report = { requests: requests.filter((count) => count > 0), mentions, atOnce, atOnceOfOne };
      requests = new Array<number>(hosts).fill(0);
      [mentions, atOnce, atOnceOfOne] = [0, 0, 0];
      return report;
    },
  };
}

function feedMentioning(hosts: number, mentions: number, port: number): string {
  const newest = Date.now();
  const twts = Array.from({ length: mentions }, (_, i) => {
    const timestamp = `${new Date(newest - (mentions - i) * 60_000).toISOString().slice(0, 19)}Z`;
    return `${timestamp}\tHello @<host${i % hosts} http://${addressOf(i % hosts)}:${port}/twtxt.txt>\n`;
  });
  return `# nick = alice\n# url = http://127.0.0.1:${port}/twtxt.txt\n\n${twts.join("")}`;
}

function feedOfHost(host: number, port: number): string {
  const endpoint = `http://${addressOf(host)}:${port}/webmention`;
  return `# nick = host${host}\n# webmention = ${endpoint}\n\n2026-01-01T00:00:00Z\tHello\n`;
}

const [, script, kind, hosts, mentions] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  process.on("disconnect", () => process.exit());
  process.send?.(kind === "feed" ? await serveFeed() : await serveHosts(Number(hosts), Number(mentions)));
}
