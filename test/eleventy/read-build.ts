// test/eleventy/read-build.ts: what the tests of this folder read in a build, and how they write posts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuiltSite } from "../helpers/site.js";

/** The header of a feed by Alice that has no options beside the two that must be. */
export const HEADER = "# nick = alice\n# url = https://alice.example/twtxt.txt\n\n";

/** Front matter with every value quoted as JSON, which YAML reads, and a body byte for byte. */
export function quoted(data: Record<string, unknown>, body = ""): string {
  const lines = Object.entries(data).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  return `---\n${lines.join("")}---\n${body}`;
}

/** The twts of `/twtxt.txt` as their lines stand in the file, without the LF. */
export function lines(built: BuiltSite, path = "twtxt.txt"): string[] {
  const [, body = ""] = split(built.read(path));
  return body.split("\n").slice(0, -1);
}

/** The text of the one line with this timestamp; `null` where there is none, a complaint where there are several. */
export function textAt(built: BuiltSite, timestamp: string): string | null {
  const found = lines(built).filter((line) => line.startsWith(`${timestamp}\t`));
  if (found.length > 1) throw new Error(`${found.length} lines at ${timestamp}`);
  return found[0]?.slice(timestamp.length + 1) ?? null;
}

/** The sentences that the plugin has printed, less the one about the host: the warnings in their order, then what it wrote. */
export function said(built: BuiltSite): string[] {
  const name = "[eleventy-plugin-twtxt] ";
  const sentences = built.log.split("\n").flatMap((line) => (line.startsWith(name) ? [line.slice(name.length)] : []));
  // Warnings come by another stream than the rest, so their places in the log are by chance.
  const isSummary = (sentence: string) => sentence.startsWith("Wrote ");
  const isOfHost = (sentence: string) => sentence.startsWith("Built for the host ");
  return [
    ...sentences.filter((sentence) => !isSummary(sentence) && !isOfHost(sentence)),
    ...sentences.filter(isSummary),
  ];
}

/** The sentence that a build was stopped with, as Eleventy prints it first. */
export function stopped(built: BuiltSite): string | null {
  return /^\[11ty\] (?:\d+\. )?\[eleventy-plugin-twtxt\] (.*?)(?: \(via TwtxtError\))?$/m.exec(built.log)?.[1] ?? null;
}

/** A file of the project, not of its output; `null` where there is none. */
export function projectFile(built: BuiltSite, path: string): string | null {
  const file = join(built.folder, path);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

function split(feed: string): string[] {
  const end = feed.indexOf("\n\n") + 2;
  return [feed.slice(0, end), feed.slice(end)];
}
