// plugin/eleventy/netlify-output.ts: what Netlify is told at build time, without a line in the site's own files.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { authorError } from "../errors.js";
import type { SiteFile } from "./site-files.js";

/** Headers of one path, as Netlify's Frameworks API takes them. */
export interface HeaderRule {
  for: string;
  values: Record<string, string>;
}

/** The headers that a feed and the discovery documents are served with. See PROTOCOL 1.1 and 3.1. */
export function headerRules(
  feed: readonly SiteFile[],
  discovery: readonly SiteFile[],
  webmention: string | null,
): HeaderRule[] {
  // Netlify takes a header's value apart at its commas, also inside of a URL.
  const endpoint = webmention?.replaceAll(",", "%2C");
  const link = endpoint ? { Link: `<${endpoint}>; rel="webmention"` } : {};
  const anyone = { "Access-Control-Allow-Origin": "*" };
  return [
    ...feed.map(({ path }) => ({
      for: path,
      values: { "Content-Type": "text/plain; charset=utf-8", ...link, ...anyone },
    })),
    ...discovery.map(({ path }) => ({ for: path, values: { "Content-Type": "application/json", ...anyone } })),
  ];
}

/** Adds our headers to those that other tools have written to this file, `.netlify/v1/config.json`. */
export async function writeNetlifyHeaders(file: string, rules: readonly HeaderRule[]): Promise<void> {
  const config = await readJson(file);
  const ours = new Set(rules.map((rule) => rule.for));
  const others = (Array.isArray(config.headers) ? config.headers : []).filter((rule) => !ours.has(rule?.for));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ ...config, headers: [...others, ...rules] }, null, 2)}\n`);
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  try {
    return Object(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    if (Object(cause).code === "ENOENT") return {};
    throw authorError("bad-file", `${file} is no JSON that can be read. Another tool has written it; remove it.`, {
      cause,
    });
  }
}
