// plugin/eleventy/netlify-headers.ts: response headers for Netlify, through its Frameworks API.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { authorError } from "../errors.js";
import type { SiteFile } from "./output.js";

/** Read by Netlify's Frameworks API. Other tools may write to it, too. */
const CONFIG = ".netlify/v1/config.json";
/** The rules that this plugin added, so that the next build can remove them. Netlify ignores this file. */
const RECORD = ".netlify/v1/twtxt-headers.json";

/** Headers of one path, in the format of Netlify's Frameworks API. */
export interface HeaderRule {
  for: string;
  values: Record<string, string>;
}

/** The headers of the feed and the discovery documents. PROTOCOL 1.1, 3.1 */
export function headerRules(
  feed: readonly SiteFile[],
  discovery: readonly SiteFile[],
  webmention: string | null,
): HeaderRule[] {
  // Netlify splits header values at commas, even inside URLs.
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
 * Adds the headers to those of other tools, and removes those of an earlier build.
 *
 * @param root - the project's root
 * @param rules - empty for other hosts
 */
export async function writeNetlifyHeaders(root: string, rules: readonly HeaderRule[]): Promise<void> {
  const [file, record] = [join(root, CONFIG), join(root, RECORD)];
  const before = rulesIn({ headers: (await readJson(record))?.headers });
  if (rules.length === 0 && before.length === 0) return;

  const { headers, ...config } = (await readJson(file)) ?? {};
  const paths = new Set(rules.map((rule) => rule.for));
  const isOwn = (rule: HeaderRule) => paths.has(rule?.for) || before.some((own) => isDeepStrictEqual(own, rule));
  const all = [...rulesIn({ headers }).filter((rule) => !isOwn(rule)), ...rules];
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
    throw authorError("bad-file", `${file} is not valid JSON. Another tool wrote it; delete the file.`, {
      cause,
    });
  }
}

/** Writes the file, or removes it if the content is empty. */
async function writeJson(file: string, content: object): Promise<void> {
  if (Object.keys(content).length === 0) return rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}
