// test/bench/main.ts: `npm run bench`: runs all benchmarks and writes their tables.
import { spawn } from "node:child_process";
import { getEventListeners } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { measureStrangers } from "./attacks.js";
import { measureBlobs } from "./blobs.js";
import { measureBucket } from "./bucket.js";
import { measureBuilds } from "./build.js";
import { measureClientTimeline } from "./client-timeline.js";
import { measureFloods } from "./comment-flood.js";
import { measureComponent } from "./component.js";
import { measureContactForm } from "./contact-form.js";
import { measureAssets, measureMentionBuilds, measureTree } from "./conversations.js";
import { measureDeliveries } from "./deliveries.js";
import { measureFullSite } from "./full-site.js";
import { measureFunctions } from "./functions.js";
import { measureMessages } from "./messages.js";
import { compilePackage } from "./package.js";
import { measureFinding, measureImport, measureReader } from "./reader.js";
import { measureReceiving } from "./receive.js";
import { measureReceived } from "./received.js";
import { measureSending } from "./send.js";
import { measureServeStart } from "./serve-start.js";
import { measureStaticFiles } from "./static-files.js";
import { formatMarkdown, formatPart, type Part } from "./table.js";
import { measureTimeline } from "./timeline.js";
import { measureVerifying } from "./verify.js";

const HELP = `npm run bench -- [--quick] [--only PARTS] [--json FILE] [--markdown FILE]

--quick     fewer runs, fewer mentions, and no blogs of 10,000
--only      some parts, with commas between them: builds, timeline, client, mentions, tree, assets, reader, find, import,
            functions, send, verify, receive, received, messages, form, floods, deliveries, bucket, start, blobs, strangers, static,
            component, full
--json      the figures as JSON, too
--markdown  the tables as Markdown, too, as in docs/benchmarks.md`;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    json: { type: "string" },
    markdown: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit();
}

const temp = mkdtempSync(join(tmpdir(), "twtxt-bench-"));
removeAtOurEnd(temp);
const stopping = new AbortController();
const stop = stopping.signal;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());

try {
  const start = Date.now();
  say("Compiling the package.");
  const entry = await compilePackage(join(temp, "package"), stop);

  const parts: Part[] = [];
  const wanted = options.only?.split(",");
  for (const [name, measure] of plan(entry, options.quick)) {
    if (wanted && !wanted.some((start) => name.startsWith(start))) continue;
    say(`Measuring: ${name}.`);
    const partStart = Date.now();
    const part = await measure();
    const left = getEventListeners(stop, "abort").length;
    if (left > 0) {
      say(`${name} has not ended ${left} of its processes and browsers.`);
      process.exitCode = 1;
    }
    say(`${name}: ${Math.round((Date.now() - partStart) / 1000)} s.`);
    if (part === null) continue;
    parts.push(part);
    console.log(formatPart(part));
    if (options.json) writeFileSync(options.json, `${JSON.stringify({ ...machine(), parts }, null, 2)}\n`);
    if (options.markdown) writeFileSync(options.markdown, report(parts, Date.now() - start));
  }
} catch (error) {
  if (!stop.aborted) throw error;
  say("Stopped.");
  process.exitCode = 130;
}

/** Starts a process that removes the folder when this one ends: tsx may kill this one at once on Ctrl-C. */
function removeAtOurEnd(folder: string): void {
  const remove = `fs.rmSync(${JSON.stringify(folder)}, { recursive: true, force: true, maxRetries: 20 })`;
  const code = `process.stdin.resume().on("close", () => ${remove})`;
  const cleaner = spawn(process.execPath, ["--eval", code], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  cleaner.unref();
  if (cleaner.stdin instanceof Socket) cleaner.stdin.unref();
}

/** The part is `null` if its server cannot run on this machine. */
type Measurement = [name: string, measure: () => Promise<Part | null>];

function plan(entry: string, isQuick: boolean): Measurement[] {
  const size = (quick: number, full: number) => (isQuick ? quick : full);
  const folder = (name: string) => join(temp, name);
  const setup = { plugin: entry, stop, say };
  const builds = (posts: number, isTitled: boolean, runs: number): Measurement => [
    `builds of ${posts} ${isTitled ? "posts" : "notes"}`,
    () =>
      measureBuilds(
        { posts, isTitled },
        { ...setup, folder: folder(`blog-${posts}-${isTitled}`), runs, warmUps: posts < 10_000 ? 1 : 0 },
      ),
  ];
  const mentionBuilds = { ...setup, folder: folder("blog-mentions"), runs: size(2, 4), warmUps: 1 };
  const messages = { folder: folder("messages"), milliseconds: size(100, 300), blocks: 3, stop };
  const deliveries = { folder: folder("deliveries"), count: size(100, 500), rounds: size(3, 5), stop };
  const emptyModule = join(temp, "empty.mjs");
  writeFileSync(emptyModule, "");
  return [
    builds(1_000, true, size(2, 5)),
    builds(1_000, false, size(2, 5)),
    ...(isQuick ? [] : [builds(10_000, true, 2)]),
    ["mentions", () => measureMentionBuilds(size(5_000, 20_000), mentionBuilds)],
    ["tree", () => measureTree(entry, size(20, 100))],
    ["assets", async () => measureAssets(entry)],
    ["timeline", () => measureTimeline(entry, { folder: folder("timeline"), runs: size(3, 5), stop })],
    ["client", () => measureClientTimeline(entry, { folder: folder("client"), runs: size(3, 7), stop })],
    ["reader", () => measureReader(entry, size(5, 15), stop)],
    ["find", () => measureFinding(entry, size(5, 15), stop)],
    ["import", () => measureImport(entry, pathToFileURL(emptyModule).href, size(3, 9), stop)],
    ["functions", () => measureFunctions(folder("functions"), size(3, 10), stop)],
    ...(process.platform === "linux" ? [sending(entry, isQuick)] : []),
    ["verify", () => measureVerifying(entry, size(100, 500), stop)],
    [
      "received",
      () => measureReceived(entry, { folder: folder("received"), count: size(10_000, 100_000), runs: 3, stop }),
    ],
    ["messages", () => measureMessages(entry, messages)],
    ["form", () => measureContactForm(entry, size(20, 100), stop)],
    ["floods", () => measureFloods(folder("floods"), { share: size(0.25, 1), stop })],
    ["deliveries", () => measureDeliveries(entry, deliveries)],
    ["bucket", () => measureBucket(entry, { folder: folder("bucket"), stop })],
    ...(process.platform === "linux"
      ? [serveStart(entry, isQuick), receiving(entry, isQuick), strangers(entry, isQuick), fullSite(entry, isQuick)]
      : []),
    ["static", () => measureStaticFiles(entry, { folder: folder("static"), rounds: size(2, 5), stop })],
    ["component", () => measureComponent(entry, size(3, 9), stop)],
    ["blobs", () => measureBlobs(entry, { folder: folder("blobs"), rounds: size(2, 5), stop })],
  ];
}

/** Two hundred hosts need two hundred loopback addresses, which only Linux has by default. */
function sending(entry: string, isQuick: boolean): Measurement {
  const size = isQuick ? { hosts: 40, mentions: 200, runs: 1 } : { hosts: 200, mentions: 1000, runs: 2 };
  return ["send", () => measureSending(entry, { ...size, folder: join(temp, "sent"), stop })];
}

/** Only Linux reports the resources of a process in /proc. */
function serveStart(entry: string, isQuick: boolean): Measurement {
  return ["start", () => measureServeStart(entry, { folder: join(temp, "start"), runs: isQuick ? 3 : 9, stop })];
}

/** The same. */
function receiving(entry: string, isQuick: boolean): Measurement {
  const size = isQuick ? { count: 100, rounds: 3 } : { count: 500, rounds: 5 };
  return ["receive", () => measureReceiving(entry, { ...size, folder: join(temp, "receive"), stop })];
}

/** The same. */
function fullSite(entry: string, isQuick: boolean): Measurement {
  const amounts = { messages: 10_000, blobs: 20_000, mentions: 100_000, sent: 10_000 };
  const few = { messages: 1000, blobs: 2000, mentions: 10_000, sent: 1000 };
  return ["full", () => measureFullSite(entry, { folder: join(temp, "full"), amounts: isQuick ? few : amounts, stop })];
}

/** The same. */
function strangers(entry: string, isQuick: boolean): Measurement {
  const size = isQuick ? { seconds: 4, newMentions: 200 } : { seconds: 10, newMentions: 2000 };
  return ["strangers", () => measureStrangers(entry, { ...size, folder: join(temp, "strangers"), stop })];
}

function machine(): { node: string; processor: string; processors: number } {
  return { node: process.version, processor: cpus()[0]?.model ?? "", processors: cpus().length };
}

/** The Markdown page of one run. */
function report(parts: readonly Part[], milliseconds: number): string {
  const { node, processor, processors } = machine();
  const minutes = Math.round(milliseconds / 60_000);
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const intro = `# Benchmarks

One run of \`npm run bench\` without a pause, on a machine with no other work: ${minutes} minutes, ${processors} processors
(${processor}), Node ${node}, Eleventy ${versionOf("@11ty/eleventy")}, version ${version} of this package. Compare the ratios: absolute
times depend on the machine. Other programs are measured in the same run, in turn with this one.

\`npm run bench -- --markdown docs/benchmarks.md\` writes this page.`;
  return `${[intro, ...parts.map(formatMarkdown)].join("\n\n")}\n`;
}

function versionOf(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).version;
}

function say(progress: string): void {
  process.stderr.write(`${progress}\n`);
}
