// test/bench/client-timeline.ts: the first page of the timeline in `eleventy-twtxt client`, from the cache of its last run.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { folderName } from "../../plugin/author/site-store.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { builtSite, settingsFile } from "../helpers/built-site.js";
import { type Client, startClient } from "./client-process.js";
import { median, type Part, range, time } from "./table.js";

const FEEDS = 50;
const TWTS = 200;
const AIM_MS = 150;
/** A browser takes about as long to open. */
const OPENING_MS = 500;
/** No server listens here, so the feeds cannot be read again. */
const NOWHERE = "http://127.0.0.1:9";
const NEWEST = Date.parse("2026-11-01T00:00:00Z");

interface Setup {
  /** An empty folder for the site. */
  folder: string;
  runs: number;
  stop: AbortSignal;
}

/** @param entry - the URL of the package's compiled main entry */
export async function measureClientTimeline(entry: string, { folder, runs, stop }: Setup): Promise<Part> {
  await writeReader(folder);
  const first: number[] = [];
  const later: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const client = await startClient(entry, folder, stop);
    try {
      await setTimeout(OPENING_MS);
      first.push(await requestTimeline(client));
      for (let page = 0; page < 5; page += 1) later.push(await requestTimeline(client));
    } finally {
      client.end();
    }
  }
  rmSync(folder, { recursive: true, force: true });
  const series = { "the first one after the start": first, "later ones": later };
  return {
    title: `The timeline in the client: ${FEEDS} feeds, ${FEEDS * TWTS} twts, median of ${runs} starts`,
    rows: [
      ["Pages", "time", "min to max"],
      ...Object.entries(series).map(([name, times]) => [name, time(median(times)), range(times)]),
    ],
    aims: [{ what: "The first page after the start", aim: `below ${AIM_MS} ms`, reached: time(median(first)) }],
    note: "The first page is requested half a second after the start, when a browser has opened. Until then, the client has read the cache.",
    figures: series,
  };
}

/** A site that follows feeds, with the cache of its client. */
async function writeReader(folder: string): Promise<void> {
  const { settings } = builtSite(NOWHERE, { host: "static" });
  const urls = Array.from({ length: FEEDS }, (_, number) => `${NOWHERE}/${number}.txt`);
  const follow = urls.map((url, number) => ({ nick: `f${number}`, url }));
  const files = { "package.json": "{}", "_data/follow.json": JSON.stringify(follow), ...settingsFile(settings) };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const cache = new SqliteStore(join(folder, "data/eleventy-twtxt/timelines", folderName(NOWHERE)));
  await cache.put("feeds", Buffer.from(JSON.stringify(urls.map(keptFeed))));
}

/** Every third twt replies to the one before. */
function keptFeed(url: string, number: number) {
  const hash = (twt: number) => (number * TWTS + twt).toString(32).padStart(12, "a");
  const twts = Array.from({ length: TWTS }, (_, twt) => {
    const published = `${new Date(NEWEST - (twt * FEEDS + number) * 60_000).toISOString().slice(0, 19)}Z`;
    const text = `Twt ${twt} of @<f${number} ${url}>, see https://example.org/${twt} and *this* one, in \`code\`.`;
    const replyTo = twt % 3 === 1 ? hash(twt + 1) : null;
    return { timestamp: published, published, text, hash: hash(twt), hashV1: hash(twt).slice(5), replyTo };
  });
  return { url, etag: '"1"', lastModified: null, read: "2026-11-01T00:00:00Z", twts };
}

/** Requests the timeline. @returns the milliseconds */
async function requestTimeline(client: Client): Promise<number> {
  const start = performance.now();
  const { text } = await client.get("/timeline");
  const milliseconds = performance.now() - start;
  if (!text.includes("Twt 0 of")) throw new Error("A page without twts.");
  return milliseconds;
}
