// test/bench/full-site.ts: the pages of the client and the lists of the terminal at a site with a full store (Linux only).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runNode } from "./child.js";
import { startClient } from "./client-process.js";
import { type FilledSite, fillSite } from "./fill-site.js";
import { type Served, startServe } from "./served-site.js";
import { type Part, time } from "./table.js";
import { readUsage, type Usage } from "./watched-serve.js";

const usageHook = new URL("./usage.mjs", import.meta.url).href;
const KIB_IN_MIB = 1024;
/** How long a process is idle before the next page is requested, and its processor time then. */
const IDLE_MS = 500;
const IDLE_SECONDS = 0.05;

/** The author's program, and `serve` during its work. */
interface Reading {
  name: string;
  own: Usage;
  serve: Usage;
  /** Whether it lists everything, which has no limit of time. */
  isAll: boolean;
}

interface Setup {
  /** An empty folder. */
  folder: string;
  amounts: FilledSite["amounts"];
  stop: AbortSignal;
}

/** @param entry - the URL of the package's compiled main entry */
export async function measureFullSite(entry: string, { folder, amounts, stop }: Setup): Promise<Part> {
  const site = await fillSite(entry, { folder, amounts, stop });
  const served = await startServe(entry, folder, stop, ["--port", String(site.port), "--store", site.store]);
  try {
    const first = await measureFirstList(served);
    const pages = await readPages(entry, site, served, stop);
    return toPart(amounts, [first, ...pages, ...(await runLists(entry, site, served, stop))]);
  } finally {
    served.end();
  }
}

function toPart({ messages, blobs, mentions, sent }: FilledSite["amounts"], readings: readonly Reading[]): Part {
  const [first, ...others] = readings;
  const cost = ({ own, serve }: Reading) => (own.cpuSeconds + serve.cpuSeconds) * 1000;
  const slowest = others.filter(({ isAll }) => !isAll).reduce((one, other) => (cost(other) > cost(one) ? other : one));
  const most = Math.max(...readings.map(({ serve }) => serve.mebibytes));
  const count = (amount: number) => amount.toLocaleString("en");
  return {
    title: `${count(messages)} messages, ${count(blobs)} blobs, ${count(mentions)} mentions, ${count(sent)} sent mentions`,
    rows: [
      ["", "CPU", "CPU of serve", "memory", "memory of serve"],
      ...readings.map(({ name, own, serve }) => [
        name,
        ...[own, serve].map(({ cpuSeconds }) => time(cpuSeconds * 1000)),
        ...[own, serve].map(({ mebibytes }) => `${mebibytes.toFixed(0)} MiB`),
      ]),
    ],
    aims: [
      {
        what: `The slowest page or list, "${slowest.name}", with serve`,
        aim: "below a second of CPU",
        reached: time(cost(slowest)),
      },
      { what: "The first list after the start", aim: "below a second of CPU", reached: first ? time(cost(first)) : "" },
      { what: "Memory of serve", aim: "below 300 MiB", reached: `${most.toFixed(0)} MiB` },
    ],
    note: "Each command is a new process, whose start takes some 400 ms of CPU: see --version. No limit is set for --all.",
    figures: readings,
  };
}

/** The mentions are read into memory when serve starts, and the first list waits for that. */
async function measureFirstList({ pid, url }: Served): Promise<Reading> {
  await (await fetch(`${url}/mentions.json`)).text();
  return { name: "serve, to the first list of mentions", own: NOTHING, serve: readUsage(pid), isAll: false };
}

async function readPages(entry: string, site: FilledSite, served: Served, stop: AbortSignal): Promise<Reading[]> {
  const withBob = `/messages/with/${encodeURIComponent(site.sender)}`;
  const pages = ["/timeline", "/write", "/mentions?state=held", "/mentions?state=shown", "/mentions?state=rejected"];
  pages.push("/mentions/year", "/mentions/block?host=blog-1.example", "/messages", withBob, "/messages/unverified");
  pages.push("/messages/outbox", "/files", "/health");
  const client = await startClient(entry, site.folder, stop);
  const untilIdle = async () => {
    for (let last = Number.NEGATIVE_INFINITY; readUsage(client.pid).cpuSeconds - last > IDLE_SECONDS; ) {
      last = readUsage(client.pid).cpuSeconds;
      await sleep(IDLE_MS, null, { signal: stop });
    }
  };
  const readings: Reading[] = [];
  try {
    // The second time, the messages are opened.
    for (const [at, path] of [...pages, ...pages].entries()) {
      await untilIdle();
      const before = [readUsage(client.pid), readUsage(served.pid)] as const;
      const { status } = await client.get(path);
      if (status !== 200) throw new Error(`The response of the client to ${path} was ${status}.`);
      const name = `client, ${path.replace(encodeURIComponent(site.sender), "bob")}${at < pages.length ? "" : ", again"}`;
      const own = compareUsage(before[0], client.pid);
      readings.push({ name, own, serve: compareUsage(before[1], served.pid), isAll: false });
    }
  } finally {
    client.end();
  }
  return readings;
}

async function runLists(entry: string, site: FilledSite, { pid }: Served, stop: AbortSignal): Promise<Reading[]> {
  const usageFile = join(site.folder, "usage.json");
  const { store, oldestMessage, oldestBlob } = site;
  const ids = [`message read ${oldestMessage}`, `message read ${oldestMessage.slice(0, 8)}`];
  const lists = [
    "--version",
    ...["mentions", "mentions --json", "mentions --state held", "mentions blocked", "mentions --all"],
    ...["message list", "message list --json", "message list --unread", "message list --threads", ...ids],
    ...["message sent", "message outbox", "message blocked", "message list --all", "message list --all --threads"],
    ...["blob list", "blob list --json", `blob info ${oldestBlob}`, "blob list --all"],
    ...["send --list", "send --list --json", "send --list --all"],
    ...[`followers --store ${store}`, "follow", "contacts"],
  ];
  const readings: Reading[] = [];
  for (const list of lists) {
    const before = readUsage(pid);
    const main = fileURLToPath(new URL("cli/main.js", entry));
    const { output } = await runNode(["--import", usageHook, main, ...list.split(" ")], {
      cwd: site.folder,
      env: { ...site.environment, BENCH_USAGE: usageFile },
      stop,
    });
    if (list.startsWith("send") && output === "") throw new Error("serve does not list what it has sent.");
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(usageFile, "utf8"));
    const own = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, mebibytes: maxRSS / KIB_IN_MIB };
    const name = list
      .replace(/[0-9a-f]{8,}/, (id) => (id.length > 8 ? "ID" : "the start of an ID"))
      .replace(store, "DIR");
    readings.push({ name, own, serve: compareUsage(before, pid), isAll: list.includes("--all") });
  }
  return readings;
}

const NOTHING: Usage = { cpuSeconds: 0, mebibytes: 0 };

/** The processor time since an earlier reading, and the memory now. */
function compareUsage(before: Usage, pid: number): Usage {
  const { cpuSeconds, mebibytes } = readUsage(pid);
  return { cpuSeconds: cpuSeconds - before.cpuSeconds, mebibytes };
}
