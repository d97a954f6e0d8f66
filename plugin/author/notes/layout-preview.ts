// plugin/author/notes/layout-preview.ts: builds the page of a post that is not saved yet, in the layout of its site.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import * as v from "valibot";
import { orBadFile, TwtxtError } from "../../errors.js";
import type { Machine } from "../machine.js";
import type { Site } from "../site.js";

const MAX_MS = 2 * 60_000;
const MAX_OUTPUT = 64 * 1024;

/**
 * Builds the site in memory, with the post as a virtual template. The run mode is that of a preview, and plugins that write
 * files nevertheless get a temporary folder as the output.
 */
const BUILD = `
import { readFileSync, writeFileSync } from "node:fs";
import { Eleventy } from "@11ty/eleventy";
const { input, output, file, content, result } = JSON.parse(readFileSync(0, "utf8"));
async function build() {
  const config = (config) => void config.addTemplate(file, content);
  const eleventy = new Eleventy(input, output, { quietMode: true, config });
  eleventy.setRunMode("serve");
  const pages = await eleventy.toJSON();
  const page = pages.find(({ inputPath }) => inputPath.replace(/^[.][/]/, "").endsWith(file));
  writeFileSync(result, JSON.stringify({ url: page?.url || null, html: page?.content ?? null }));
}
build().then(() => process.exit(), (error) => {
  console.error(error);
  process.exit(1);
});
`;

const RESULT = v.object({ url: v.nullable(v.string()), html: v.nullable(v.string()) });

export interface BuiltPage {
  /** Its path on the site. */
  url: string;
  html: string;
}

/**
 * Builds the page of a post. Changes no file of the site. The build runs in a process of its own, for two minutes at most.
 *
 * @param file - absolute; it must not exist
 * @param content - of the file
 * @param signal - ends the build
 * @throws TwtxtError `bad-post` with the last line of Eleventy's output; `bad-file`
 */
export async function buildPage(
  { file, content }: { file: string; content: string },
  { site, machine, signal }: { site: Site; machine: Machine; signal: AbortSignal },
): Promise<BuiltPage> {
  const folder = await orBadFile(mkdtemp(join(tmpdir(), "eleventy-twtxt-")));
  const input = site.file(site.settings.input);
  const result = join(folder, "page.json");
  const work = {
    ...{ input: relative(site.file("."), input) || ".", output: join(folder, "site"), result, content },
    file: relative(input, file).replaceAll("\\", "/"),
  };
  try {
    await runBuild(JSON.stringify(work), { root: site.file("."), machine, signal });
    const { url, html } = v.parse(RESULT, JSON.parse(await orBadFile(readFile(result, "utf8"))));
    if (url !== null && html !== null) return { url, html };
    throw new TwtxtError("bad-post", "Eleventy makes no page of this post: its permalink is false.");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runBuild(
  work: string,
  { root, machine, signal }: { root: string; machine: Machine; signal: AbortSignal },
): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", BUILD], {
    ...{ cwd: root, env: machine.environment, timeout: MAX_MS, killSignal: "SIGKILL" },
    ...{ signal, stdio: ["pipe", "pipe", "pipe"] },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT);
    });
  }
  // EPIPE: the process has ended before it has read the post; its output says why.
  child.stdin.on("error", () => {}).end(work);
  const [exitCode]: (number | null)[] = await once(child, "close").catch((error: Error) => {
    throw new TwtxtError("bad-post", `The build did not finish: ${error.message}.`, { cause: error });
  });
  if (exitCode === 0) return;
  const why = exitCode === null ? "it took longer than two minutes" : findFault(output);
  throw new TwtxtError("bad-post", `Eleventy could not build the site with this post: ${why}`);
}

/** The line of Eleventy's output that names the problem. */
function findFault(output: string): string {
  const lines = output.split("\n").map((line) => line.replace(/\x1b\[[\d;]*m/g, "").trim());
  const named = lines.find((line) => /^(?:\[11ty\] )?\d\. |Error(?: \[\w+\])?: /.test(line));
  return (named ?? lines.find((line) => line !== "") ?? "it gave no reason").replace(/^\[11ty\] (?:\d\. )?/, "");
}
