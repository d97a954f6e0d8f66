// test/bench/reader.ts: parsing a large feed, and finding one twt in it. Each series runs in its own process.
import { fileURLToPath } from "node:url";
import { runNode } from "./child.js";
import { largeFeed } from "./feed.js";
import { median, type Part, range, ratio, time } from "./table.js";

type Package = typeof import("../../plugin/index.js");

/** Measured times by name, in milliseconds. */
type Times = Record<string, number[]>;

const WARM_UPS = 4;

/** @param entry - the URL of the package's compiled main entry */
export async function measureReader(entry: string, runs: number, stop: AbortSignal): Promise<Part> {
  const series = {
    ...(await runSeries("bytes", entry, runs, stop)),
    ...(await runSeries("string", entry, runs, stop)),
  };
  const pairs = [
    { ours: "parseFeed(bytes)", bare: "decode, split" },
    { ours: "parseFeed(string)", bare: "split" },
  ];
  const megabytes = largeFeed().bytes.length / 1_000_000;
  const speed = (name: string) => (megabytes / median(series[name] ?? [])) * 1000;
  const rows = pairs.flatMap(({ ours, bare }) =>
    [bare, ours].map((name) => [
      name,
      time(median(series[name] ?? [])),
      range(series[name] ?? []),
      `${speed(name).toFixed(0)} MB/s`,
      ratio(speed(name), speed(bare)),
    ]),
  );
  return {
    title: `Reading a feed of 10 MB, median of ${runs}`,
    rows: [["", "time", "min to max", "speed", "ratio"], ...rows],
    aims: pairs.map(({ ours, bare }) => ({
      what: `Speed of ${ours}`,
      aim: "a third of the bare split, 0.33 x",
      reached: ratio(speed(ours), speed(bare)),
    })),
    figures: series,
  };
}

/** As {@link measureReader}. */
export async function measureFinding(entry: string, runs: number, stop: AbortSignal): Promise<Part> {
  const times = await runSeries("find", entry, runs, stop);
  const entries = Object.entries(times);
  return {
    title: `Finding one twt in a feed of 10 MB, median of ${runs}`,
    rows: [["", "time", "min to max"], ...entries.map(([name, values]) => [name, time(median(values)), range(values)])],
    aims: entries.map(([name, values]) => ({ what: name, aim: "below 10 ms", reached: time(median(values)) })),
    figures: times,
  };
}

/** Imports the package and an empty module in turn. */
export async function measureImport(
  entry: string,
  emptyModule: string,
  runs: number,
  stop: AbortSignal,
): Promise<Part> {
  const modules = { "an empty module": emptyModule, "dist/index.js": entry };
  const inside: Times = {};
  const whole: Times = {};
  for (let run = 0; run <= runs; run += 1) {
    for (const [name, url] of Object.entries(modules)) {
      const code = `const start = performance.now(); await import(${JSON.stringify(url)}); console.log(performance.now() - start);`;
      const { output, wall } = await runNode(["--input-type=module", "--eval", code], { stop });
      if (run === 0) continue;
      inside[name] = [...(inside[name] ?? []), Number(output)];
      whole[name] = [...(whole[name] ?? []), wall];
    }
  }
  const of = (times: Times, name: string) => median(times[name] ?? []);
  const rows = Object.keys(modules).map((name) => [
    name,
    time(of(inside, name)),
    range(inside[name] ?? []),
    time(of(whole, name)),
    ratio(of(whole, name), of(whole, "an empty module")),
  ]);
  return {
    title: `Importing the package in a fresh process, median of ${runs}`,
    rows: [["", "import", "min to max", "whole process", "ratio"], ...rows],
    aims: [],
    figures: { inside, whole },
  };
}

async function runSeries(name: string, entry: string, runs: number, stop: AbortSignal): Promise<Times> {
  // The flags of this process make Node load this file with tsx.
  const args = [...process.execArgv, "--expose-gc", fileURLToPath(import.meta.url), name, entry, String(runs)];
  const { output } = await runNode(args, { stop });
  return JSON.parse(output) as Times;
}

/** A file as it comes from the network: a flat string, whose split V8 has not cached. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const SERIES: Record<string, (ours: Package, runs: number) => Times> = {
  bytes({ parseFeed }, runs) {
    const { bytes } = largeFeed();
    return inTurn(runs, {
      "decode, split": () => () => decode(bytes).split("\n"),
      "parseFeed(bytes)": () => () => parseFeed(bytes).twts,
    });
  },
  string({ parseFeed }, runs) {
    const { bytes } = largeFeed();
    return inTurn(runs, {
      split: () => {
        const file = decode(bytes);
        return () => file.split("\n");
      },
      "parseFeed(string)": () => {
        const file = decode(bytes);
        return () => parseFeed(file).twts;
      },
    });
  },
  find({ findTwts }, runs) {
    const { bytes, timestamps } = largeFeed();
    const places = {
      first: timestamps[0],
      middle: timestamps[timestamps.length >> 1],
      last: timestamps.at(-1),
      absent: "2014-05-06T07:08:09Z",
    };
    const cases = Object.entries(places).map(
      ([name, timestamp = ""]) => [name, () => () => findTwts(bytes, timestamp)] as const,
    );
    return inTurn(runs, Object.fromEntries(cases));
  },
};

/**
 * Times the cases in turn, each after a garbage collection, so that none pays for another.
 *
 * @param cases - each prepares its input, and returns the function to measure
 */
function inTurn(runs: number, cases: Record<string, () => () => unknown[]>): Times {
  const times: Times = {};
  for (let run = -WARM_UPS; run < runs; run += 1) {
    for (const [name, prepare] of Object.entries(cases)) {
      const work = prepare();
      globalThis.gc?.();
      const start = performance.now();
      const result = work();
      const taken = performance.now() - start;
      // The result is used, so that V8 cannot skip the work.
      if (result.length < 0) throw new Error("never");
      if (run >= 0) times[name] = [...(times[name] ?? []), taken];
    }
  }
  return times;
}

const [, script, name = "", entry = "", runs] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  const series = SERIES[name];
  if (!series) throw new Error(`There is no series "${name}".`);
  const ours = (await import(entry)) as Package;
  console.log(JSON.stringify(series(ours, Number(runs))));
}
