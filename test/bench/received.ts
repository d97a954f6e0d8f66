// test/bench/received.ts: reading 100,000 stored mentions. Each store is read in its own process.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import type { MentionQuery } from "../../plugin/mentions/mention.js";
import type { NewMention } from "../../plugin/mentions/receive/event.js";
import type { Store } from "../../plugin/store/store.js";
import { wordsFrom } from "./blog.js";
import { runNode } from "./child.js";
import { median, type Part, range, ratio, time } from "./table.js";

const FIRST = Date.parse("2023-01-01T00:00:00Z");
const STEP = 997_000;
const HOSTS = 5000;
const PAGES = 500;
/** The number of events in one run of the compaction. */
const FOLD = 2000;
const WARM_RUNS = 5;
/** A number above those of all stored mentions. */
const LATER = 500_000;

/** The list of the endpoint, the list of a page, and the private feed. */
const QUERIES: Record<string, MentionQuery> = {
  "newest 20": { state: "shown", limit: 20 },
  "20 of a page": { state: "shown", target: pageUrl(7), limit: 20 },
  all: { limit: 1_000_000 },
};

/** One reading: its time, and its number of requests to the store. */
interface Reading {
  ms: number;
  requests: number;
}

interface Prepared {
  bytes: number;
  /** The time of each run of the compaction, in milliseconds. */
  folding: number[];
  bare: number[];
}

/** The readings of one process. */
interface Series {
  query: string;
  cold: Reading;
  warm: Reading[];
  /** Each after one more mention. */
  changed: Reading[];
  /** The peak, in MiB. */
  memory: number;
}

/** @param folder - an empty folder for the store */
export async function measureReceived(
  entry: string,
  { folder, count, runs, stop }: { folder: string; count: number; runs: number; stop: AbortSignal },
): Promise<Part> {
  mkdirSync(folder, { recursive: true });
  const prepared = await prepareStore(entry, { folder, count, runs, stop });
  const all: Series[] = [];
  for (let run = 0; run < runs; run += 1) {
    for (const query of Object.keys(QUERIES)) all.push(await runSeries("read", [entry, folder, query], stop));
  }
  const row = (name: string, readings: Reading[]) => {
    const times = readings.map(({ ms }) => ms);
    const requests = [...new Set(readings.map(({ requests }) => requests))].join(", ");
    return [name, time(median(times)), range(times), requests, ratio(median(times), median(prepared.bare))];
  };
  const rows = Object.keys(QUERIES).flatMap((query) => {
    const series = all.filter((each) => each.query === query);
    return [
      row(
        `${query}, in a new process`,
        series.map(({ cold }) => cold),
      ),
      row(
        `${query}, again`,
        series.flatMap(({ warm }) => warm),
      ),
      row(
        `${query}, after a new mention`,
        series.flatMap(({ changed }) => changed),
      ),
    ];
  });
  const bare = ["gunzip, JSON.parse", time(median(prepared.bare)), range(prepared.bare), "", ratio(1, 1)];
  return {
    title: `Reading ${count.toLocaleString("en")} stored mentions, ${(prepared.bytes / 1e6).toFixed(1)} MB, median of ${runs}`,
    rows: [["", "time", "min to max", "requests", "ratio"], bare, ...rows],
    aims: [
      {
        what: `Compacting the last ${FOLD.toLocaleString("en")} of them`,
        aim: "none set; a scheduled run has 20 s",
        reached: time(prepared.folding.at(-1) ?? Number.NaN),
      },
      {
        what: "Memory of a process that reads them",
        aim: "none set; a function has 1024 MiB",
        reached: `${median(all.map(({ memory }) => memory)).toFixed(0)} MiB at most`,
      },
    ],
    figures: { prepared, all },
  };
}

/** Fills a store with mentions. */
export function prepareStore(
  entry: string,
  { folder, count, runs, stop }: { folder: string; count: number; runs: number; stop: AbortSignal },
): Promise<Prepared> {
  return runSeries("prepare", [entry, folder, String(count), String(runs)], stop);
}

async function runSeries<T>(name: string, values: string[], stop: AbortSignal): Promise<T> {
  const { output } = await runNode([...process.execArgv, fileURLToPath(import.meta.url), name, ...values], { stop });
  return JSON.parse(output) as T;
}

/** The modules of the compiled package. */
async function modulesOf(entry: string) {
  const load = <T>(path: string): Promise<T> => import(new URL(path, entry).href);
  const { Journal } =
    await load<typeof import("../../plugin/mentions/receive/journal.js")>("mentions/receive/journal.js");
  const { ReceivedMentions } =
    await load<typeof import("../../plugin/mentions/receive/received.js")>("mentions/receive/received.js");
  const { JsonTexts } = await load<typeof import("../../plugin/mentions/receive/json-texts.js")>(
    "mentions/receive/json-texts.js",
  );
  const { memoryStore } = await load<typeof import("../../plugin/store/memory.js")>("store/memory.js");
  const { SqliteStore } = await load<typeof import("../../plugin/store/sqlite.js")>("store/sqlite.js");
  return { Journal, JsonTexts, ReceivedMentions, memoryStore, SqliteStore };
}

type Modules = Awaited<ReturnType<typeof modulesOf>>;

/** A reader without a cache, as in a new process. */
function createReader({ Journal, ReceivedMentions }: Modules, store: Store) {
  const counted = counting(store);
  const now = () => FIRST;
  const received = new ReceivedMentions({
    journal: new Journal({ store: counted.store, now, shownPerHost: 10, log: () => {} }),
    now,
    onChange: async () => {},
  });
  return async (query: MentionQuery): Promise<Reading> => {
    counted.reset();
    const start = performance.now();
    const { mentions } = await received.list(query);
    const ms = performance.now() - start;
    if (mentions.length === 0) throw new Error("Nothing was read.");
    return { ms, requests: counted.requests() };
  };
}

function counting(store: Store): { store: Store; requests(): number; reset(): void } {
  let requests = 0;
  const count = <A extends unknown[], R>(ask: (...values: A) => R) => {
    return (...values: A): R => {
      requests += 1;
      return ask(...values);
    };
  };
  return {
    store: {
      get: count(store.get.bind(store)),
      put: count(store.put.bind(store)),
      delete: count(store.delete.bind(store)),
      keys: count(store.keys.bind(store)),
      list: count(store.list.bind(store)),
      survey: count(store.survey.bind(store)),
    },
    requests: () => requests,
    reset: () => {
      requests = 0;
    },
  };
}

async function prepare(entry: string, folder: string, count: number, runs: number): Promise<Prepared> {
  const modules = await modulesOf(entry);
  // In memory, because the disk would sync each of them.
  const memory = modules.memoryStore();
  const folding = await fill(modules, memory, count);
  const store = new modules.SqliteStore(folder);
  const bytes: Uint8Array[] = [];
  for (const key of await memory.keys("mentions/")) {
    const stored = await memory.get(key);
    if (!stored) continue;
    await store.put(key, stored.bytes);
    if (!key.startsWith("mentions/parts/")) continue;
    const texts = new modules.JsonTexts();
    const lines = [...texts.readBlocks(stored.bytes)].flat().map((json) => texts.read(json).toString());
    bytes.push(gzipSync(lines.join("\n")));
  }
  const bare: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    const mentions = bytes.flatMap((part) => parseLines(gunzipSync(part).toString()));
    bare.push(performance.now() - start);
    if (mentions.length !== count) throw new Error(`Expected ${count} stored mentions, got ${mentions.length}.`);
  }
  return { bytes: bytes.reduce((sum, part) => sum + part.length, 0), folding, bare };
}

function parseLines(part: string): unknown[] {
  return part.split("\n").map((line) => JSON.parse(line));
}

/** Stores mentions one event at a time, with repeated runs of the compaction. */
async function fill({ Journal }: Modules, store: Store, count: number): Promise<number[]> {
  const folding: number[] = [];
  let last = FIRST;
  const journal = new Journal({ store, now: () => last, shownPerHost: 10, log: () => {} });
  for (let i = 0; i < count; i += 1) {
    last = FIRST + i * STEP;
    await journal.add({ kind: "kept", at: new Date(last).toISOString(), mention: mentionNumber(i) });
    if ((i + 1) % FOLD !== 0 && i + 1 !== count) continue;
    const start = performance.now();
    await journal.compact();
    folding.push(performance.now() - start);
  }
  return folding;
}

export function mentionNumber(i: number): NewMention {
  const words = wordsFrom(i + 1);
  const host = `blog-${i % HOSTS}.example`;
  const identity = `https://${host}/twtxt.txt`;
  const instant = `${new Date(FIRST + i * STEP).toISOString().slice(0, 19)}Z`;
  return {
    identity,
    isDeclared: false,
    given: identity,
    timestamp: instant,
    instant,
    type: i % 4 === 0 ? "reply" : "mention",
    author: { name: words(1), url: identity, photo: i % 3 === 0 ? `https://${host}/avatar.png` : null },
    text: `@<alice https://alice.example/twtxt.txt> ${words(10 + (i % 40))}`,
    html: null,
    hash: null,
    hashV1: null,
    published: instant,
    subject: i % 4 === 0 ? "abcdefg" : null,
    about: null,
    target: "https://alice.example/twtxt.txt",
    under: i % 2 === 0 ? null : pageUrl(i % PAGES),
    hold: "when many",
  };
}

function pageUrl(number: number): string {
  return `https://alice.example/posts/${number}/`;
}

async function readSeries(entry: string, folder: string, name: string): Promise<Series> {
  const modules = await modulesOf(entry);
  const query = QUERIES[name];
  if (!query) throw new Error(`There is no query "${name}".`);
  const store = new modules.SqliteStore(folder);
  const read = createReader(modules, store);
  const cold = await read(query);
  const warm: Reading[] = [];
  for (let run = 0; run < WARM_RUNS; run += 1) warm.push(await read(query));
  const memory = process.resourceUsage().maxRSS / 1024;
  const changed: Reading[] = [];
  for (let run = 0; run < WARM_RUNS; run += 1) {
    // By another process, as after a request to it.
    const journal = new modules.Journal({ store, now: () => FIRST, shownPerHost: 10, log: () => {} });
    await journal.add({
      kind: "kept",
      at: new Date().toISOString(),
      mention: mentionNumber(LATER + process.pid + run),
    });
    changed.push(await read(query));
  }
  return { query: name, cold, warm, changed, memory };
}

const [, script, series, entry = "", folder = "", value = "", runs] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  const result =
    series === "prepare"
      ? await prepare(entry, folder, Number(value), Number(runs))
      : await readSeries(entry, folder, value);
  console.log(JSON.stringify(result));
}
