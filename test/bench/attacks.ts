// test/bench/attacks.ts: `eleventy-twtxt serve` under load from hostile clients, compared with an undisturbed server.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../plugin/store/store.js";
import { startSources, timestampOf } from "./hostile-sources.js";
import { mentionNumber } from "./received.js";
import { writeSite } from "./served-site.js";
import { addressOf } from "./strangers.js";
import { median, type Part, percentile, time } from "./table.js";
import { type Answer, FEED, probeDuring, type WatchedServe, watchedServe } from "./watched-serve.js";

/** The number of concurrent hostile sources, each with its own address. */
const HOSTILE = 30;
/** Enough to use up a day's verification time if all senders shared one allowance. */
const SLOW_SOURCES = 177;
const BURST = 150;
const A_SECOND = 25;
const READS = 50;
/** Many reads in a row: Linux counts CPU time in hundredths of a second. */
const WARM_READS = 500;
/** From this number of events on, a read of the list starts a compaction. */
const COMPACT_FROM = 300;
const EVE = "192.0.2.66";
const CAROL = "192.0.2.7";

interface Size {
  folder: string;
  /** The duration of each sustained attack. */
  seconds: number;
  /** The number of new mentions before the list is read. */
  newMentions: number;
  stop: AbortSignal;
}

/** The servers of the attack. */
interface Scene {
  entry: string;
  attacked: WatchedServe;
  /** Uses the store of the attacked server. */
  second: WatchedServe;
  quiet: WatchedServe;
  store: string;
  /** The base URL of a host of sources; without a number, that of 127.0.0.1. */
  host(number?: number): string;
}

/** One line of the table. */
interface Reading {
  name: string;
  /** Response times of a static file during the attack, in milliseconds. */
  files: number[];
  quietFiles: number[];
  cpuSeconds: number;
  mebibytes: number;
  /** A summary of the responses; empty for none. */
  result: string;
}

export async function measureStrangers(entry: string, size: Size): Promise<Part> {
  const twts = size.seconds * A_SECOND + 2 * BURST + 100;
  const sources = await startSources({ hosts: SLOW_SOURCES + 1, twts, target: FEED }, size.stop);
  const scene = await sceneOf(entry, size, sources.port);
  const bombs = `feeds of 8 MiB of line ends, ${HOSTILE} at once for ${size.seconds} s`;
  const pages = `pages of 1 MiB of nested properties, ${HOSTILE} at once for ${size.seconds} s`;
  const atOnce = `${READS} reads of the list at once`;
  try {
    await warmUp(scene);
    const readings = [
      await readingOf(scene, bombs, () =>
        sendHostile(scene, `${scene.host()}/bomb.txt#:~:text=${timestampOf(0)}`, size.seconds),
      ),
      await readingOf(scene, pages, () => sendHostile(scene, `${scene.host(SLOW_SOURCES)}/page.html`, size.seconds)),
      await readingOf(scene, `${SLOW_SOURCES} mentions of slow sources`, () => sendSlow(scene)),
      await readingOf(scene, `${A_SECOND} mentions a second for ${size.seconds} s`, () =>
        sendSteadily(scene, size.seconds),
      ),
      await readingOf(scene, `a burst of ${BURST}`, () => sendBurst(scene, [scene.attacked], 0)),
      await readingOf(scene, `a burst of ${BURST} for two processes`, () =>
        sendBurst(scene, [scene.attacked, scene.second], BURST),
      ),
      await readingAfterNew(scene, size.newMentions, atOnce, () => readAtOnce(scene)),
    ];
    await untilCompacted(scene);
    const warm = { list: await cpuOf(scene, "/mentions.json"), file: await cpuOf(scene, "/") };
    const shown = await scene.attacked.shown();
    if (shown < size.newMentions) throw new Error(`The list has ${shown} of ${size.newMentions} new mentions.`);
    const of = (name: string) => readings.find((reading) => reading.name === name);
    return partOf(readings, { bombs: of(bombs), pages: of(pages), atOnce: of(atOnce), warm });
  } finally {
    for (const { end } of [scene.attacked, scene.second, scene.quiet, sources]) end();
  }
}

async function sceneOf(entry: string, { folder, stop }: Size, port: number): Promise<Scene> {
  const store = join(folder, "store");
  const hosts = ["127.0.0.1", ...Array.from({ length: SLOW_SOURCES + 1 }, (_, host) => addressOf(host))];
  const allowed = hosts.flatMap((host) => ["--allow-private-host", `${host}:${port}`]);
  const start = async (name: string, args: string[]) => {
    writeSite(join(folder, name), { inbox: null, blobs: null, isReceiver: true });
    return watchedServe(entry, join(folder, name), args, stop);
  };
  return {
    entry,
    attacked: await start("attacked", ["--store", store, ...allowed]),
    second: await start("second", ["--store", store, ...allowed]),
    quiet: await start("quiet", ["--store", join(folder, "quiet-store")]),
    store,
    host: (number) => `http://${number === undefined ? "127.0.0.1" : addressOf(number)}:${port}`,
  };
}

/** Warms up the server, so that no module is loaded or compiled during a measurement. */
async function warmUp(scene: Scene): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    for (const server of [scene.attacked, scene.second]) await server.mention(sourceOf(scene, n), CAROL);
    for (const server of [scene.attacked, scene.second, scene.quiet]) await server.get("/");
  }
}

async function readingOf({ attacked, quiet }: Scene, name: string, event: () => Promise<string>): Promise<Reading> {
  const before = attacked.usage();
  let mebibytes = before.mebibytes;
  const watch = setInterval(() => {
    mebibytes = Math.max(mebibytes, attacked.usage().mebibytes);
  }, 20);
  let result = "";
  const [files = [], quietFiles = []] = await probeDuring([attacked, quiet], async () => {
    result = await event();
  });
  clearInterval(watch);
  const cpuSeconds = attacked.usage().cpuSeconds - before.cpuSeconds;
  return { name, files, quietFiles, cpuSeconds, mebibytes: mebibytes - before.mebibytes, result };
}

/** The measurements that have an aim. */
interface Findings {
  bombs: Reading | undefined;
  pages: Reading | undefined;
  atOnce: Reading | undefined;
  /** Milliseconds of CPU for a read of the list and of a static file, on an idle server. */
  warm: { list: number; file: number };
}

function partOf(readings: Reading[], { bombs, pages, atOnce, warm }: Findings): Part {
  const p99 = (times: number[]) => time(percentile(times, 99));
  const rows = readings.map(({ name, files, quietFiles, cpuSeconds, mebibytes }) => [
    name,
    String(files.length),
    time(median(files)),
    p99(files),
    p99(quietFiles),
    `${cpuSeconds.toFixed(2)} s`,
    `${mebibytes.toFixed(0)} MiB`,
  ]);
  const hostile = [
    { what: "line ends", reading: bombs },
    { what: "nested properties", reading: pages },
  ].flatMap(({ what, reading }) => [
    {
      what: `A static file during the attack with ${what}, p99`,
      aim: "50 ms",
      reached: `${p99(reading?.files ?? [])}; of the quiet server ${p99(reading?.quietFiles ?? [])}`,
    },
    { what: "Memory for it", aim: "below 100 MiB", reached: `${reading?.mebibytes.toFixed(0)} MiB` },
  ]);
  return {
    title: "Static files of eleventy-twtxt serve during attacks, and of an undisturbed server",
    rows: [["", "files", "p50", "p99", "p99 of the quiet server", "CPU", "memory"], ...rows],
    aims: [
      ...hostile,
      {
        what: "CPU for a read of the list, warm",
        aim: "below 5 ms",
        reached: `${time(warm.list)}; of a static file ${time(warm.file)}`,
      },
      {
        what: `Memory for ${READS} reads at once, the first after new mentions`,
        aim: "none is set",
        reached: `${atOnce?.mebibytes.toFixed(0)} MiB`,
      },
      ...readings
        .map(({ name, result }) => ({ what: name, aim: "none 503, none lost", reached: result }))
        .filter(({ reached }) => reached !== ""),
    ],
    note: "CPU and memory in the table are those of the attacked server, static files included. Senders, sources and both servers share the processors, so the p99 of the quiet server shows how long a file waits just for a processor.",
    figures: { readings, warm },
  };
}

/** Each sender waits for a response before it sends the next mention. */
async function sendHostile({ attacked }: Scene, source: string, seconds: number): Promise<string> {
  const end = performance.now() + seconds * 1000;
  const answers = await Promise.all(
    Array.from({ length: HOSTILE }, async (_, n) => {
      const own: Answer[] = [];
      while (performance.now() < end) own.push(await attacked.mention(source, `198.51.100.${n}`));
      return own;
    }),
  );
  return answersOf(answers.flat());
}

/** Meanwhile, another sender mentions the site. */
async function sendSlow({ attacked, host }: Scene): Promise<string> {
  const reference = `#:~:text=${timestampOf(0)}`;
  const slow = Promise.all(
    Array.from({ length: SLOW_SOURCES }, (_, n) => attacked.mention(`${host(n)}/slow.txt${reference}`, EVE)),
  );
  const others: Answer[] = [];
  for (let n = 0; n < 8; n += 1) {
    await sleep(500);
    others.push(await attacked.mention(`${host()}/feed.txt${reference}`, CAROL));
  }
  return `${answersOf(await slow)}; another sender's: ${answersOf(others)}`;
}

async function sendSteadily(scene: Scene, seconds: number): Promise<string> {
  const sent: Promise<Answer>[] = [];
  const before = await scene.attacked.shown();
  const start = performance.now();
  for (let n = 0; n < seconds * A_SECOND; n += 1) {
    await sleep(start + (n * 1000) / A_SECOND - performance.now());
    sent.push(scene.attacked.mention(sourceOf(scene, 100 + 2 * BURST + n), EVE));
  }
  return withLost(scene, before, await Promise.all(sent));
}

async function sendBurst(scene: Scene, servers: WatchedServe[], first: number): Promise<string> {
  const before = await scene.attacked.shown();
  const sent = Array.from({ length: BURST }, (_, n) =>
    servers[n % servers.length]?.mention(sourceOf(scene, 100 + first + n), EVE),
  );
  return withLost(
    scene,
    before,
    (await Promise.all(sent)).flatMap((answer) => answer ?? []),
  );
}

function sourceOf({ host }: Scene, twt: number): string {
  return `${host()}/feed.txt#:~:text=${timestampOf(twt)}`;
}

async function withLost({ attacked }: Scene, before: number, answers: Answer[]): Promise<string> {
  const kept = answers.filter(({ status }) => status === 200).length;
  return `${answersOf(answers)}, ${before + kept - (await attacked.shown())} lost`;
}

/** Measures a read after another process has stored new mentions. */
async function readingAfterNew(
  scene: Scene,
  count: number,
  name: string,
  event: () => Promise<string>,
): Promise<Reading> {
  await storeMentions(scene, count);
  return readingOf(scene, name, event);
}

async function storeMentions({ entry, store }: Scene, count: number): Promise<void> {
  const load = <T>(path: string): Promise<T> => import(new URL(path, entry).href);
  const { Journal } =
    await load<typeof import("../../plugin/mentions/receive/journal.js")>("mentions/receive/journal.js");
  const journal = new Journal({
    store: await openStore(entry, store),
    now: Date.now,
    shownPerHost: 10_000,
    log: () => {},
  });
  for (let n = 0; n < count; n += 1) {
    await journal.add({ kind: "kept", at: new Date().toISOString(), mention: mentionNumber(n) });
  }
}

async function openStore(entry: string, folder: string): Promise<Store> {
  const store: typeof import("../../plugin/store/sqlite.js") = await import(new URL("store/sqlite.js", entry).href);
  return new store.SqliteStore(folder);
}

/** Waits for the background work that the first read of many new mentions starts. */
async function untilCompacted({ entry, store: folder }: Scene): Promise<void> {
  const store = await openStore(entry, folder);
  const end = performance.now() + 60_000;
  while ((await store.keys("mentions/events")).length >= COMPACT_FROM) {
    if (performance.now() > end) throw new Error("The new mentions were not compacted within a minute.");
    await sleep(100);
  }
}

/** Milliseconds of CPU for one response, without other requests. */
async function cpuOf({ attacked }: Scene, path: string): Promise<number> {
  await attacked.get(path);
  const before = attacked.usage().cpuSeconds;
  for (let n = 0; n < WARM_READS; n += 1) await attacked.get(path);
  return ((attacked.usage().cpuSeconds - before) * 1000) / WARM_READS;
}

async function readAtOnce({ attacked }: Scene): Promise<string> {
  await Promise.all(Array.from({ length: READS }, () => attacked.get("/mentions.json")));
  return "";
}

function answersOf(answers: readonly Answer[]): string {
  const statuses = [...new Set(answers.map(({ status }) => status))].sort();
  const counts = statuses.map((status) => `${answers.filter((one) => one.status === status).length} × ${status}`);
  return `${counts.join(", ")}, the slowest in ${time(Math.max(...answers.map(({ ms }) => ms)))}`;
}
