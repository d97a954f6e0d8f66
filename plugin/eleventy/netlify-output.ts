// plugin/eleventy/netlify-output.ts: what Netlify is told at build time, without a line in the site's own files.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { authorError } from "../errors.js";
import type { SiteFile } from "./site-files.js";

/** Netlify's Frameworks API reads it. Other tools may write to it, too. */
const CONFIG = ".netlify/v1/config.json";
/** The rules that this plugin added to it, so that the next build can remove them. Netlify ignores the file. */
const RECORD = ".netlify/v1/twtxt-headers.json";

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

/**
 * Puts our headers beside those that other tools have written, and removes those of an earlier build.
 *
 * @param root - the project's root
 * @param rules - none for a site that another host serves
 */
export async function writeNetlifyHeaders(root: string, rules: readonly HeaderRule[]): Promise<void> {
  const [file, record] = [join(root, CONFIG), join(root, RECORD)];
  const before = rulesIn({ headers: (await readJson(record))?.headers });
  if (rules.length === 0 && before.length === 0) return;

  const { headers, ...config } = (await readJson(file)) ?? {};
  const paths = new Set(rules.map((rule) => rule.for));
  const isOurs = (rule: HeaderRule) => paths.has(rule?.for) || before.some((ours) => isDeepStrictEqual(ours, rule));
  const all = [...rulesIn({ headers }).filter((rule) => !isOurs(rule)), ...rules];
  await writeJson(file, all.length > 0 ? { ...config, headers: all } : config);
  await writeJson(record, rules.length > 0 ? { headers: rules } : {});
}

function rulesIn({ headers }: { headers: unknown }): HeaderRule[] {
  return Array.isArray(headers) ? headers : [];
}

async function readJson(file: string): Promise<Record<string, unknown> | null> {
  try {
    return Object(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    if (Object(cause).code === "ENOENT") return null;
    throw authorError("bad-file", `${file} is no JSON that can be read. Another tool has written it; remove it.`, {
      cause,
    });
  }
}

/** Removes the file where nothing is left to write. */
async function writeJson(file: string, content: object): Promise<void> {
  if (Object.keys(content).length === 0) return rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}
