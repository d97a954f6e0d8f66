// test/bench/messages.ts: sealing, opening and armoring with this package, another npm package and, if Go is installed, the reference implementation.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Reference, startReference } from "../interop/saltpack/reference.js";
import { runNode } from "./child.js";
import { type Case, casesOf, type Work } from "./sealed.js";
import { median, type Part, ratio } from "./table.js";

/** Operations per second in each block. Empty for an implementation without this operation. */
interface Series {
  name: string;
  /** Size of one operation, if the speed is given in MB/s. */
  bytes?: number;
  ours: number[];
  npm: number[];
  go: number[];
}

interface Size {
  /** The folder for the Go program; created if it does not exist. */
  folder: string;
  /** The length of a block. */
  milliseconds: number;
  blocks: number;
  stop: AbortSignal;
}

const NOTE =
  "Small messages are limited by elliptic curves (key exchanges and a signature), large ones by XSalsa20-Poly1305 and SHA-512, armored ones by base62. All keys are prepared unless the name says otherwise: recipients' Ed25519 keys are converted once, by `seal`, which remembers them, and before the measurement in Go.";

export async function measureMessages(entry: string, { folder, milliseconds, blocks, stop }: Size): Promise<Part> {
  mkdirSync(folder, { recursive: true });
  const args = [
    ...process.execArgv,
    fileURLToPath(import.meta.url),
    entry,
    folder,
    String(milliseconds),
    String(blocks),
  ];
  const { output } = await runNode(args, { stop });
  const series = JSON.parse(output) as Series[];
  const isGoThere = series.some(({ go }) => go.length > 0);
  return {
    title: `Sealed messages, median of ${blocks} blocks of ${milliseconds} ms each`,
    rows: [["", "ours", "npm", "Go", "ours / npm", "ours / Go"], ...series.map(rowOf)],
    aims: aimsOf(series),
    note: isGoThere ? NOTE : `Go is not installed, so the reference was not measured. ${NOTE}`,
    figures: series,
  };
}

function rowOf(series: Series): string[] {
  const { ours, npm, go } = series;
  return [
    series.name,
    speed(series, ours),
    speed(series, npm),
    speed(series, go),
    npm.length > 0 ? ratio(median(ours), median(npm)) : "",
    go.length > 0 ? ratio(median(ours), median(go)) : "",
  ];
}

function aimsOf(series: readonly Series[]): Part["aims"] {
  const aims = [
    { pattern: /^(?:seal|open) 1 KiB, (?:binary|armored)$/, aim: "at least five times the npm package" },
    { pattern: /^(?:seal|open) 1 MiB, binary$/, aim: "at least 1.5 times the npm package" },
    { pattern: /^(?:seal|open) 1 MiB, armored$/, aim: "at least five times the npm package, and ahead of Go" },
    { pattern: /^(?:de)?armor /, aim: "at least 40 MB/s" },
  ];
  return aims.flatMap(({ pattern, aim }) =>
    series.filter(({ name }) => pattern.test(name)).map((one) => ({ what: one.name, aim, reached: reachedBy(one) })),
  );
}

function reachedBy(series: Series): string {
  const [, ours, , , ofNpm, ofGo] = rowOf(series);
  return `${ours}, ${ofNpm} of npm${ofGo ? `, ${ofGo} of Go` : ""}`;
}

function speed({ bytes }: Series, perSecond: readonly number[]): string {
  if (perSecond.length === 0) return "";
  if (bytes === undefined) return `${rounded(median(perSecond))} /s`;
  return `${rounded((median(perSecond) * bytes) / 1e6)} MB/s`;
}

/** Three digits, or an integer. */
function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

/** Alternates between implementations, so that other load affects all of them. The first block warms up. */
async function run(
  cases: readonly Case[],
  reference: Reference | null,
  milliseconds: number,
  blocks: number,
): Promise<Series[]> {
  const all = cases.map(
    ({ name, bytes }): Series => ({ name, ...(bytes !== undefined && { bytes }), ours: [], npm: [], go: [] }),
  );
  for (let block = -1; block < blocks; block += 1) {
    for (const [index, { ours, npm, go }] of cases.entries()) {
      const rates = {
        ours: await rateOf(ours, milliseconds),
        npm: npm && (await rateOf(npm, milliseconds)),
        go: go && (await reference?.ask({ ...go, measure: milliseconds }))?.perSecond,
      };
      if (block < 0) continue;
      for (const who of ["ours", "npm", "go"] as const) {
        const rate = rates[who];
        if (rate !== undefined) all[index]?.[who].push(rate);
      }
    }
  }
  return all;
}

async function rateOf(work: Work, milliseconds: number): Promise<number> {
  const start = performance.now();
  let count = 0;
  let taken = 0;
  while (taken < milliseconds) {
    await work();
    count += 1;
    taken = performance.now() - start;
  }
  return (count / taken) * 1000;
}

const [, script, entry = "", folder = "", milliseconds, blocks] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  const ours: typeof import("../../plugin/messages/index.js") = await import(new URL("messages/index.js", entry).href);
  const reference = await startReference(folder);
  const series = await run(casesOf(ours), reference, Number(milliseconds), Number(blocks));
  reference?.close();
  console.log(JSON.stringify(series));
}
