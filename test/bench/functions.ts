// test/bench/functions.ts: code loaded by a cold start of each Netlify function.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { runNode } from "./child.js";
import { median, type Part, range, ratio, time } from "./table.js";

const bundler = fileURLToPath(new URL("../../build/netlify.mjs", import.meta.url));

/** The functions with the most requests, and the number of bytes that each may load. */
const WATCHED = [
  { name: "mentions.js", what: "Listing mentions", bytes: 125_000 },
  { name: "inbox.js", what: "Receiving and listing messages", bytes: 200_000 },
  { name: "blobs.js", what: "Keeping and sharing blobs", bytes: 200_000 },
];
const UNDICI = "the whole of undici";
const NOTHING = "node -e 0";

/** The program to start; without an entry, Node alone. */
interface Start {
  name: string;
  entry: string | null;
  /** Bytes that are loaded at the start, and bytes that may be loaded later. */
  loaded: number;
  later: number;
  /** Milliseconds. */
  imports: number[];
  processes: number[];
}

/**
 * Bundles the functions, and imports each of them in fresh processes.
 *
 * @param folder - is created
 */
export async function measureFunctions(folder: string, runs: number, stop: AbortSignal): Promise<Part> {
  const functions = join(folder, "functions");
  await runNode([bundler, functions], { stop });
  const starts = [
    startOf(NOTHING, null),
    startOf(UNDICI, await bundledUndici(folder)),
    ...readdirSync(functions)
      .filter((file) => file.endsWith(".js"))
      .map((name) => startOf(name, join(functions, name))),
  ];
  // In turn, so that other load of the machine affects all of them; the first turn fills the disk's cache.
  for (let run = 0; run <= runs; run += 1) {
    for (const { entry, imports, processes } of starts) {
      const { inside, whole } = await coldStart(entry, stop);
      if (run === 0) continue;
      imports.push(inside);
      processes.push(whole);
    }
  }
  return partOf(starts, runs);
}

function partOf(starts: Start[], runs: number): Part {
  const bare = median(starts[0]?.processes ?? []);
  return {
    title: `Cold start of Netlify's functions, median of ${runs}`,
    rows: [
      ["", "at once", "later", "import", "min to max", "whole process", "ratio"],
      ...starts.map(({ name, entry, loaded, later, imports, processes }) => [
        name,
        ...(entry === null ? ["", "", "", ""] : [size(loaded), size(later), time(median(imports)), range(imports)]),
        time(median(processes)),
        ratio(median(processes), bare),
      ]),
    ],
    aims: WATCHED.map(({ name, what, bytes }) => {
      const start = starts.find((one) => one.name === name);
      const reached = `${size(start?.loaded ?? Number.NaN)} and ${time(median(start?.imports ?? []))}`;
      return { what, aim: `below ${size(bytes)} and 60 ms`, reached };
    }),
    figures: starts,
  };
}

function startOf(name: string, entry: string | null): Start {
  const loaded = entry === null ? [] : loadedWith(entry);
  const later = loadedLater(loaded);
  return { name, entry, loaded: bytesOf(loaded), later: bytesOf(later), imports: [], processes: [] };
}

/** For comparison: the whole of undici, bundled and minified as the functions are. */
async function bundledUndici(folder: string): Promise<string> {
  const outfile = join(folder, "undici.mjs");
  await build({
    stdin: { contents: 'export { request, Agent } from "undici";', resolveDir: dirname(bundler) },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minify: true,
    banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
    logLevel: "warning",
  });
  return outfile;
}

/** A file of the bundle and the files that it imports statically. */
export function loadedWith(entry: string, seen = new Set<string>()): string[] {
  if (seen.has(entry)) return [];
  seen.add(entry);
  return [
    entry,
    ...importsOf(entry, /(?:from|import)"(\.{1,2}\/[\w./-]+)"/g).flatMap((file) => loadedWith(file, seen)),
  ];
}

/** The files that these files import dynamically, with their imports. */
function loadedLater(files: readonly string[]): string[] {
  const seen = new Set(files);
  const later: string[] = [];
  for (let open = [...files]; open.length > 0; ) {
    const found = open.flatMap((file) => importsOf(file, /import\("(\.{1,2}\/[\w./-]+)"\)/g));
    open = found.flatMap((file) => loadedWith(file, seen));
    later.push(...open);
  }
  return later;
}

function importsOf(file: string, pattern: RegExp): string[] {
  const names = [...readFileSync(file, "utf8").matchAll(pattern)].map(([, name = ""]) => name);
  return names.map((name) => resolve(dirname(file), name));
}

async function coldStart(entry: string | null, stop: AbortSignal): Promise<{ inside: number; whole: number }> {
  if (entry === null) return { inside: 0, whole: (await runNode(["-e", "0"], { stop })).wall };
  const code = `const start = performance.now(); await import(${JSON.stringify(pathToFileURL(entry).href)}); console.log(performance.now() - start);`;
  const { output, wall } = await runNode(["--input-type=module", "--eval", code], { stop });
  return { inside: Number(output), whole: wall };
}

function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

function size(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} kB`;
}
