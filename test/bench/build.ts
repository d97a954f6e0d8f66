// test/bench/build.ts: build time added by this plugin and by the feed of @11ty/eleventy-plugin-rss.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { PublicMention } from "../../plugin/site/mention-list.js";
import { type Blog, writeBlog } from "./blog.js";
import { runNode } from "./child.js";
import { nodeModules } from "./package.js";
import { type Aim, added, median, type Part, range, ratio, time } from "./table.js";

/** A way to build the blog. */
export interface Variant {
  name: string;
  /** A line of the configuration and the import that it needs. */
  imports: string;
  config: string;
  /** A file that exists only if the variant did its work. */
  writes: string;
  /** A text that this file contains. */
  contains?: string;
  /** Whether the layout of posts lists their mentions, as in step 4 of the quick start. */
  listsMentions?: boolean;
}

export interface BuildSetup {
  /** The URL of the compiled plugin. */
  plugin: string;
  /** An empty folder for the blog. */
  folder: string;
  /** The number of measured builds of each variant. */
  runs: number;
  /** The number of earlier builds of each variant, which do not count. */
  warmUps: number;
  stop: AbortSignal;
  say(progress: string): void;
}

/** The cost of one build, in milliseconds and MiB. */
interface Usage {
  wall: number;
  cpu: number;
  memory: number;
}

/** Mentions in one response of the list. */
const PER_PAGE = 100;

const usageHook = new URL("./usage.mjs", import.meta.url).href;

const ALONE: Variant = { name: "Eleventy alone", imports: "", config: "", writes: "index.html" };

/** The compared variants: the first is the baseline, the last is this plugin with each step of the quick start. */
function variants(plugin: string, url: string): Variant[] {
  const ours = withPlugin(plugin, url);
  return [
    ALONE,
    RSS,
    { ...ours, name: "with this plugin, without mentions" },
    { ...ours, name: "with this plugin", writes: "index.html", contains: "<twtxt-mentions", listsMentions: true },
  ];
}

/** @param url - of a site on loopback that has a list of mentions */
export function withPlugin(plugin: string, url: string): Omit<Variant, "name"> {
  return {
    imports: `import twtxt from ${JSON.stringify(plugin)};`,
    config: `config.addPlugin(twtxt, { url: ${JSON.stringify(url)}, nick: "alice", host: "node" });`,
    writes: "twtxt.txt",
  };
}

const RSS = rss("with the RSS plugin, all posts");

/** Configured as in the documentation of the RSS plugin, without the limit of its example. */
function rss(name: string): Variant {
  const metadata = {
    language: "en",
    title: "Alice",
    subtitle: "A blog",
    base: "https://alice.example/",
    author: { name: "Alice" },
  };
  const options = { type: "atom", outputPath: "/feed.xml", collection: { name: "posts", limit: 0 }, metadata };
  return {
    name,
    imports: 'import { feedPlugin } from "@11ty/eleventy-plugin-rss";',
    config: `config.addPlugin(feedPlugin, ${JSON.stringify(options)});`,
    writes: "feed.xml",
  };
}

/** The aim for the cost that the last variant adds to the first. */
interface BuildAim extends Omit<Aim, "reached"> {
  reached(shares: { wall: number; cpu: number; memory: number }): string;
}

const AIM: BuildAim = {
  what: "Added by this plugin",
  aim: "at most 10 % CPU and 15 % memory",
  reached: ({ wall, cpu, memory }) =>
    `${added(wall)} wall, ${added(cpu)} CPU, ${added(memory)} memory, median of paired runs`,
};

/** Builds a blog without the plugin, with it, and with another plugin. */
export async function measureBuilds(blog: Blog, setup: BuildSetup): Promise<Part> {
  const site = await startSite(() => []);
  try {
    return await compareBuilds(blog, variants(setup.plugin, site.url), { ...setup, aim: AIM });
  } finally {
    site.end();
  }
}

/** Serves the list of mentions of a published site on loopback. */
export async function startSite(listFor: (url: string) => PublicMention[]): Promise<{ url: string; end(): void }> {
  const server = createServer(({ url = "" }, response) => {
    const start = Number(new URL(url, "http://x").searchParams.get("after") ?? 0);
    const next = start + PER_PAGE < list.length ? String(start + PER_PAGE) : null;
    response.end(JSON.stringify({ mentions: list.slice(start, start + PER_PAGE), next }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const list = listFor(url);
  return { url, end: () => server.close().closeAllConnections() };
}

/**
 * Builds a blog with each variant in turn, so that other load of the machine affects all of them. Every second round is in the
 * opposite order, so that a machine that becomes slower favors none.
 *
 * @param all - the first is the baseline
 */
export async function compareBuilds(
  blog: Blog,
  all: readonly Variant[],
  { folder, runs, warmUps, aim, about = "", stop, say }: Omit<BuildSetup, "plugin"> & { aim: BuildAim; about?: string },
): Promise<Part> {
  writeBlog(folder, blog, nodeModules);
  all.forEach((variant, i) => {
    writeFileSync(join(folder, configFile(i)), configOf(variant));
  });

  const usages: Usage[][] = all.map(() => []);
  for (let run = 1 - warmUps; run <= runs; run += 1) {
    const round = [...all.entries()];
    for (const [i, variant] of run % 2 === 0 ? round.reverse() : round) {
      const usage = await build(folder, variant, configFile(i), stop);
      if (run > 0) usages[i]?.push(usage);
      say(
        `${blog.posts} ${nameOf(blog)}, ${run > 0 ? `run ${run} of ${runs}` : "warm-up"}: ${variant.name} ${time(usage.wall)}`,
      );
    }
  }
  rmSync(folder, { recursive: true, force: true });
  return {
    ...partOf(all, usages, aim),
    title: `Building ${blog.posts.toLocaleString("en")} ${nameOf(blog)}${about}, median of ${runs}`,
  };
}

async function build(folder: string, variant: Variant, config: string, stop: AbortSignal): Promise<Usage> {
  const output = join(folder, "_site");
  const usageFile = join(folder, "usage.json");
  for (const path of [output, usageFile, join(folder, ".eleventy-twtxt")])
    rmSync(path, { recursive: true, force: true });

  const args = ["--import", usageHook, join(nodeModules, "@11ty/eleventy/cmd.cjs"), "--quiet", `--config=${config}`];
  const { wall } = await runNode(args, { cwd: folder, env: { NETLIFY: "", BENCH_USAGE: usageFile }, stop });
  const proof = join(output, variant.writes);
  if (!existsSync(proof) || !readFileSync(proof, "utf8").includes(variant.contains ?? ""))
    throw new Error(`The build "${variant.name}" did not write ${variant.writes} with ${variant.contains}.`);

  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(usageFile, "utf8")) as NodeJS.ResourceUsage;
  return { wall, cpu: (userCPUTime + systemCPUTime) / 1000, memory: maxRSS / 1024 };
}

function partOf(all: readonly Variant[], usages: Usage[][], { reached, ...aim }: BuildAim): Omit<Part, "title"> {
  const alone = usages[0] ?? [];
  const figures = all.map(({ name }, i) => {
    const own = usages[i] ?? [];
    const share = (key: keyof Usage) =>
      median(own.map((usage, run) => usage[key] / (alone[run]?.[key] ?? Number.NaN) - 1));
    return {
      name,
      wall: own.map(({ wall }) => wall),
      cpu: own.map(({ cpu }) => cpu),
      memory: own.map(({ memory }) => memory),
      addedWall: share("wall"),
      addedCpu: share("cpu"),
      addedMemory: share("memory"),
    };
  });

  const header = [
    "",
    "wall",
    "min to max",
    "ratio",
    "added",
    "CPU",
    "min to max",
    "ratio",
    "added",
    "peak memory",
    "ratio",
    "added",
  ];
  const rows = figures.map(({ name, wall, cpu, memory, addedWall, addedCpu, addedMemory }, i) => [
    name,
    time(median(wall)),
    range(wall),
    ratio(median(wall), median(figures[0]?.wall ?? [])),
    i === 0 ? "" : added(addedWall),
    time(median(cpu)),
    range(cpu),
    ratio(median(cpu), median(figures[0]?.cpu ?? [])),
    i === 0 ? "" : added(addedCpu),
    `${median(memory).toFixed(0)} MiB`,
    ratio(median(memory), median(figures[0]?.memory ?? [])),
    i === 0 ? "" : added(addedMemory),
  ]);
  const ours = figures.at(-1);
  return {
    rows: [header, ...rows],
    aims: ours
      ? [{ ...aim, reached: reached({ wall: ours.addedWall, cpu: ours.addedCpu, memory: ours.addedMemory }) }]
      : [],
    figures,
  };
}

function nameOf({ isTitled }: Blog): string {
  return isTitled ? "titled posts" : "notes without titles";
}

function configFile(variant: number): string {
  return `eleventy.config.${variant}.js`;
}

function configOf({ imports, config, listsMentions = false }: Variant): string {
  const layout = `config.addLayoutAlias("post", "${listsMentions ? "mentions" : "page"}.njk");`;
  return `${imports}\nexport default function (config) {\n  ${layout}\n  ${config}\n}\n`;
}
