// test/bench/verify.ts: verification of mentions in feeds of 1 MB, compared with fetching the feed and searching its bytes.
import { fileURLToPath } from "node:url";
import type { Claim } from "../../plugin/mentions/mention.js";
import { runNode } from "./child.js";
import { mentioningFeed } from "./feed.js";
import { OUR_FEED, startFeed } from "./strangers.js";
import { median, type Part, percentile, ratio, time } from "./table.js";

/** Enough in a row to measure their processor time. */
const BLOCK = 50;
const WARM_UPS = 3;
const AT_ONCE = 8;

interface Times {
  /** Milliseconds of CPU for one verification, by block, including other threads. */
  cpu: number[];
  /** Milliseconds of each, one after the other. */
  alone: number[];
  /** Milliseconds of each with others at the same time, and completions per second by block. */
  crowded: number[];
  rate: number[];
}

type Series = Record<string, Times>;

const BARE = "fetch, indexOf";

/** @param count - the number of verifications of each kind, first one after the other, then concurrently */
export async function measureVerifying(entry: string, count: number, stop: AbortSignal): Promise<Part> {
  const { port, end } = await startFeed(stop);
  try {
    const args = [...process.execArgv, fileURLToPath(import.meta.url), entry, String(port), String(count)];
    const { output } = await runNode(args, { stop });
    return partOf(JSON.parse(output) as Series, count);
  } finally {
    end();
  }
}

function partOf(series: Series, count: number): Part {
  const cpuOf = (name: string) => median(series[name]?.cpu ?? []);
  const rows = Object.entries(series).map(([name, { alone, crowded, rate }]) => [
    name,
    time(cpuOf(name)),
    ratio(cpuOf(name), cpuOf(BARE)),
    (1000 / cpuOf(name)).toFixed(0),
    time(median(alone)),
    time(percentile(alone, 99)),
    median(rate).toFixed(0),
    time(median(crowded)),
    time(percentile(crowded, 99)),
  ]);
  return {
    title: `Verifying mentions in feeds of 1 MB, ${count} of each kind, by one process`,
    rows: [
      ["", "CPU each", "ratio", "in 1 s of CPU", "p50", "p99", `${AT_ONCE} at once, in 1 s`, "p50", "p99"],
      ...rows,
    ],
    aims: [],
    figures: series,
  };
}

/** The repeated work. Throws if its result is wrong. */
type Work = () => Promise<void>;

async function worksFor(entry: string, url: string): Promise<Record<string, Work>> {
  const load = <T>(path: string): Promise<T> => import(new URL(path, entry).href);
  const { createVerify } =
    await load<typeof import("../../plugin/mentions/verify/verify.js")>("mentions/verify/verify.js");
  const { createGuard } = await load<typeof import("../../plugin/http/guard.js")>("http/guard.js");
  const { Moderation } = await load<typeof import("../../plugin/mentions/receive/moderation.js")>(
    "mentions/receive/moderation.js",
  );
  const { SiteIndex } = await load<typeof import("../../plugin/mentions/receive/site-index.js")>(
    "mentions/receive/site-index.js",
  );
  const verify = createVerify({
    ask: createGuard({ userAgent: "bench/1", allowPrivateHosts: [new URL(url).host] }),
    siteIndex: new SiteIndex({ feeds: [OUR_FEED], pages: [], twts: [] }),
    moderation: new Moderation({ allow: [], block: [], moderate: false }),
  });
  const { first, middle, last } = mentioningFeed(OUR_FEED).timestamps;

  const work = (timestamp: string, expected: "proven" | "disproven"): Work => {
    const claim: Claim = { source: url, timestamps: [timestamp], target: { url: OUR_FEED, kind: "feed" } };
    return async () => {
      const { outcome } = await verify(claim);
      if (outcome !== expected)
        throw new Error(`The outcome for the twt of ${timestamp} was ${outcome}, not ${expected}.`);
    };
  };
  const bare: Work = async () => {
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    if (bytes.indexOf(`\n${last}\t`) < 0) throw new Error("The feed has no such twt.");
  };
  return {
    [BARE]: bare,
    "the first twt": work(first, "proven"),
    "the middle one": work(middle, "proven"),
    "the last one": work(last, "proven"),
    "none, between them": work("2015-06-07T08:09:10Z", "disproven"),
    "none, older than all": work("2014-05-06T07:08:09Z", "disproven"),
  };
}

/** Blocks take turns, so that other load of the machine affects all of them. */
async function run(works: Record<string, Work>, count: number): Promise<Series> {
  const series: Series = Object.fromEntries(
    Object.keys(works).map((name) => [name, { cpu: [], alone: [], crowded: [], rate: [] }]),
  );
  for (let block = -WARM_UPS; block < count / BLOCK; block += 1) {
    for (const [name, work] of Object.entries(works)) {
      const start = process.cpuUsage();
      const alone = await repeat(work, 1);
      const { user, system } = process.cpuUsage(start);
      const crowded = await repeat(work, AT_ONCE);
      if (block < 0) continue;
      series[name]?.cpu.push((user + system) / 1000 / BLOCK);
      series[name]?.alone.push(...alone.times);
      series[name]?.crowded.push(...crowded.times);
      series[name]?.rate.push((BLOCK / crowded.wall) * 1000);
    }
  }
  return series;
}

/** @returns the time of each, and the total time */
async function repeat(work: Work, atOnce: number): Promise<{ times: number[]; wall: number }> {
  const begin = performance.now();
  const times: number[] = [];
  let left = BLOCK;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      await work();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { times, wall: performance.now() - begin };
}

const [, script, entry = "", port, count] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  const works = await worksFor(entry, `http://127.0.0.1:${port}/twtxt.txt`);
  console.log(JSON.stringify(await run(works, Number(count))));
}
