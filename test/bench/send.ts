// test/bench/send.ts: sending many mentions to slow hosts, compared with the minimum time that the polite pauses require.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Store } from "../../plugin/store/store.js";
import { runNode } from "./child.js";
import { addressOf, DELAY, type Report, startHosts } from "./strangers.js";
import { median, type Part, range, ratio, time } from "./table.js";

/** The limit of concurrent requests; each host gets one at a time. */
const AT_ONCE = 32;
const BARE = "fetch alone";
/** The time of a request to Netlify Blobs, in milliseconds. */
const STORE_DELAY = 50;

export interface SendSetup {
  /** A new folder for the file store. */
  folder: string;
  hosts: number;
  mentions: number;
  runs: number;
  stop: AbortSignal;
}

/** One run: milliseconds, and the requests that the hosts received. */
interface Run extends Report {
  wall: number;
  cpu: number;
}

/** Runs by the name of the step. */
type Series = Record<string, Run[]>;

/** @param entry - the URL of the package's compiled main entry */
export async function measureSending(entry: string, setup: SendSetup): Promise<Part> {
  const { folder, hosts, mentions, runs, stop } = setup;
  const { port, end } = await startHosts(hosts, mentions, stop);
  try {
    const values = [entry, port, folder, hosts, mentions, runs].map(String);
    const { output } = await runNode([...process.execArgv, fileURLToPath(import.meta.url), ...values], { stop });
    return partOf(JSON.parse(output) as Series, setup);
  } finally {
    end();
  }
}

function partOf(series: Series, { hosts, mentions, runs }: SendSetup): Part {
  const figures = Object.entries(series).map(([name, all]) => ({
    name,
    wall: all.map(({ wall }) => wall),
    cpu: all.map(({ cpu }) => cpu),
    bound: median(all.map(({ requests }) => boundOf(requests))),
    requests: median(all.map(({ requests }) => sum(requests))),
    atOnce: Math.max(...all.map(({ atOnce }) => atOnce)),
    atOnceOfOne: Math.max(...all.map(({ atOnceOfOne }) => atOnceOfOne)),
  }));
  const ours = figures.filter(({ name }) => name !== BARE);
  return {
    title: `Sending ${mentions.toLocaleString("en")} mentions to ${hosts} hosts that answer in ${DELAY} ms, median of ${runs}`,
    rows: [
      ["", "requests", "at once", "of a host", "bound", "wall", "min to max", "ratio", "CPU"],
      ...figures.map(({ name, requests, atOnce, atOnceOfOne, bound, wall, cpu }) => [
        name,
        String(requests),
        String(atOnce),
        String(atOnceOfOne),
        time(bound),
        time(median(wall)),
        range(wall),
        ratio(median(wall), bound),
        time(median(cpu)),
      ]),
    ],
    aims: ours.map(({ name, wall, bound }) => ({
      what: `Wall time, ${name}`,
      aim: `near the bound that ${AT_ONCE} at once and 1 of a host leave`,
      reached: ratio(median(wall), bound),
    })),
    figures,
  };
}

/** The minimum time of these requests: that of the busiest host, one by one, or that of all hosts, whichever is longer. */
function boundOf(requests: readonly number[]): number {
  return Math.max(...requests, Math.ceil(sum(requests) / AT_ONCE)) * DELAY;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The modules of the compiled package. */
async function modulesOf(entry: string) {
  const load = <T>(path: string): Promise<T> => import(new URL(path, entry).href);
  const { sendMentions } = await load<typeof import("../../plugin/mentions/send/send.js")>("mentions/send/send.js");
  const { createGuard } = await load<typeof import("../../plugin/http/guard.js")>("http/guard.js");
  const { memoryStore } = await load<typeof import("../../plugin/store/memory.js")>("store/memory.js");
  const { SqliteStore } = await load<typeof import("../../plugin/store/sqlite.js")>("store/sqlite.js");
  return { sendMentions, createGuard, memoryStore, SqliteStore };
}

interface Task {
  entry: string;
  port: number;
  folder: string;
  hosts: number;
  mentions: number;
  runs: number;
}

async function run({ entry, port, folder, hosts, mentions, runs }: Task): Promise<Series> {
  const { sendMentions, createGuard, memoryStore, SqliteStore } = await modulesOf(entry);
  const own = `127.0.0.1:${port}`;
  const neighbours = [own, ...Array.from({ length: hosts }, (_, host) => `${addressOf(host)}:${port}`)];
  const send = async (store: Store) => {
    const ask = createGuard({ userAgent: "bench/1", allowPrivateHosts: neighbours });
    await sendMentions({
      ask,
      store,
      feedUrl: `http://${own}/twtxt.txt`,
      findPage: (timestamp) => `http://${own}/posts/${timestamp}/`,
      now: Date.now,
      random: Math.random,
      sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => {}),
    });
  };
  const works: Record<string, (run: number) => Promise<void>> = {
    [BARE]: () => sendBare(port, hosts, mentions),
    "memory store": () => send(memoryStore()),
    "file store": (run) => send(new SqliteStore(join(folder, String(run)))),
    [`store ${STORE_DELAY} ms away`]: () => send(farAway(memoryStore())),
  };

  const series: Series = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let run = 0; run < runs; run += 1) {
    for (const [name, work] of Object.entries(works)) {
      const { wall, cpu } = await timed(() => work(run));
      const report = (await (await fetch(`http://${own}/report`)).json()) as Report;
      if (report.mentions !== mentions) throw new Error(`${name}: ${report.mentions} of ${mentions} mentions arrived.`);
      series[name]?.push({ ...report, wall, cpu });
    }
  }
  return series;
}

/** A remote store, with a delay for each request. */
function farAway(store: Store): Store {
  const slowly = <A extends unknown[], R>(ask: (...values: A) => Promise<R>) => {
    return async (...values: A): Promise<R> => {
      await sleep(STORE_DELAY);
      return ask(...values);
    };
  };
  const { get, put, delete: remove, keys, list, survey } = store;
  const writing = { put: slowly(put), delete: slowly(remove) };
  return { get: slowly(get), keys: slowly(keys), list: slowly(list), survey: slowly(survey), ...writing };
}

async function timed(work: () => Promise<void>): Promise<{ wall: number; cpu: number }> {
  const [start, startOfCpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(startOfCpu);
  return { wall: performance.now() - start, cpu: (user + system) / 1000 };
}

/** Sends as many requests with the same limits from a list that is known beforehand: no discovery, no ledger, no guard. */
async function sendBare(port: number, hosts: number, mentions: number): Promise<void> {
  const form = { method: "POST", body: new URLSearchParams({ source: "a", target: "b" }) };
  let next = 0;
  const worker = async () => {
    while (next < hosts + mentions) {
      const [host, isFirst] = [next % hosts, next < hosts];
      next += 1;
      const response = await fetch(`http://${addressOf(host)}:${port}/`, isFirst ? {} : form);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const [, script, entry = "", port, folder = "", hosts, mentions, runs] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  const task = {
    entry,
    port: Number(port),
    folder,
    hosts: Number(hosts),
    mentions: Number(mentions),
    runs: Number(runs),
  };
  console.log(JSON.stringify(await run(task)));
}
