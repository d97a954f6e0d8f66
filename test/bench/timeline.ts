// test/bench/timeline.ts: build time added by the timeline, with feeds that have not changed and with feeds that hang.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeBlog } from "./blog.js";
import { runNode, startServer } from "./child.js";
import { nodeModules } from "./package.js";
import { median, type Part, range, time } from "./table.js";

const POSTS = 20;
const TWTS = 100;
const AIM_MS = 300;
/** 20 hanging feeds are requested at once, for 2 seconds. */
const POLITE_MS = 2000;

/** A way to build the blog. */
interface Variant {
  name: string;
  feeds: number;
  /** The number of feeds that never respond. */
  hanging: number;
}

const VARIANTS: Variant[] = [
  { name: "without a timeline", feeds: 0, hanging: 0 },
  { name: "50 unchanged feeds", feeds: 50, hanging: 0 },
  { name: "200 unchanged feeds", feeds: 200, hanging: 0 },
  { name: "200 feeds, 20 of them hang", feeds: 200, hanging: 20 },
];

interface Usage {
  wall: number;
  cpu: number;
}

export interface TimelineSetup {
  /** An empty folder for the blog. */
  folder: string;
  runs: number;
  stop: AbortSignal;
}

const usageHook = new URL("./usage.mjs", import.meta.url).href;

/** Builds a small blog with each variant in turn. The first build of each variant fills the cache and does not count. */
export async function measureTimeline(plugin: string, { folder, runs, stop }: TimelineSetup): Promise<Part> {
  const server = await startServer([...process.execArgv, fileURLToPath(import.meta.url), "feeds"], stop);
  const usages: Usage[][] = VARIANTS.map(() => []);
  try {
    for (const [i, variant] of VARIANTS.entries()) {
      const own = join(folder, String(i));
      writeBlog(own, { posts: POSTS, isTitled: true }, nodeModules);
      writeFileSync(join(own, "eleventy.config.js"), configOf(plugin, variant, server.port));
    }
    for (let run = 0; run <= runs; run += 1) {
      for (const [i, variant] of VARIANTS.entries()) {
        const usage = await build(join(folder, String(i)), variant, stop);
        if (run > 0) usages[i]?.push(usage);
      }
    }
  } finally {
    server.end();
  }
  rmSync(folder, { recursive: true, force: true });
  return partOf(runs, usages);
}

function configOf(plugin: string, { feeds, hanging }: Variant, port: number): string {
  const follow = Array.from({ length: feeds }, (_, i) => ({
    nick: `f${i}`,
    url: `http://127.0.0.1:${port}/${i < feeds - hanging ? "feed" : "hanging"}/${i}`,
  }));
  const options = { url: "http://127.0.0.1", nick: "alice", host: "static", timeline: feeds > 0, follow };
  return `import twtxt from ${JSON.stringify(plugin)};
export default function (config) {
  config.addLayoutAlias("post", "page.njk");
  config.addPlugin(twtxt, ${JSON.stringify(options)});
}
`;
}

async function build(folder: string, { name, feeds }: Variant, stop: AbortSignal): Promise<Usage> {
  const usageFile = join(folder, "usage.json");
  for (const path of ["_site", ".eleventy-twtxt", "usage.json"])
    rmSync(join(folder, path), { recursive: true, force: true });
  const args = ["--import", usageHook, join(nodeModules, "@11ty/eleventy/cmd.cjs"), "--quiet"];
  const { wall } = await runNode(args, { cwd: folder, env: { NETLIFY: "", BENCH_USAGE: usageFile }, stop });
  if (existsSync(join(folder, "_site/timeline/index.html")) !== feeds > 0) throw new Error(`${name}: wrong pages.`);
  const { userCPUTime, systemCPUTime } = JSON.parse(readFileSync(usageFile, "utf8")) as NodeJS.ResourceUsage;
  return { wall, cpu: (userCPUTime + systemCPUTime) / 1000 };
}

function partOf(runs: number, usages: Usage[][]): Part {
  const added = (i: number, key: keyof Usage) =>
    (usages[i] ?? []).map((usage, run) => usage[key] - (usages[0]?.[run]?.[key] ?? Number.NaN));
  const rows = VARIANTS.map(({ name }, i) => {
    const walls = (usages[i] ?? []).map(({ wall }) => wall);
    const extra = i === 0 ? ["", ""] : [time(median(added(i, "wall"))), time(median(added(i, "cpu")))];
    return [name, time(median(walls)), range(walls), ...extra];
  });
  return {
    title: `Builds of ${POSTS} posts with a timeline, feeds of ${TWTS} twts, median of ${runs}`,
    rows: [["", "wall time", "min to max", "added", "added processor time"], ...rows],
    aims: [
      {
        what: "Time added by 50 unchanged feeds",
        aim: `below ${AIM_MS} ms`,
        reached: time(median(added(1, "wall"))),
      },
      {
        what: "Time added by 20 hanging feeds among 200",
        aim: `the politeness bound of ${time(POLITE_MS)}`,
        reached: time(median(added(3, "wall")) - median(added(2, "wall"))),
      },
    ],
    note: "The feeds are on the same machine, and the site on a static host, so that nothing else of the plugin loads the HTTP client.",
    figures: Object.fromEntries(VARIANTS.map(({ name }, i) => [name, usages[i]])),
  };
}

/** Serves `/feed/<n>`, which has not changed, and `/hanging/<n>`, which never responds. */
async function serveFeeds(): Promise<number> {
  const server = createServer((request, response) => {
    const [, kind, number] = (request.url ?? "").split("/");
    if (kind !== "feed") return;
    const isKnown = request.headers["if-none-match"] === '"1"';
    response.writeHead(isKnown ? 304 : 200, { etag: '"1"' }).end(isKnown ? "" : feed(Number(number)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

function feed(number: number): string {
  const first = Date.parse("2026-01-01T00:00:00Z") + number * 1000;
  const twts = Array.from({ length: TWTS }, (_, i) => {
    const timestamp = `${new Date(first + i * 18_000_000).toISOString().slice(0, 19)}Z`;
    return `${timestamp}\tTwt ${i} of ${number}, see https://example.org/${i} and *this* one.\n`;
  });
  return `# nick = f${number}\n\n${twts.join("")}`;
}

const [, script, kind] = process.argv;
if (script === fileURLToPath(import.meta.url) && kind === "feeds") {
  process.on("disconnect", () => process.exit());
  process.send?.(await serveFeeds());
}
