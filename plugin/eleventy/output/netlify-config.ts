// plugin/eleventy/output/netlify-config.ts: response headers and statuses for Netlify, through its Frameworks API.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { authorError } from "../../errors.js";
import { FEDIVERSE_DOCUMENTS } from "../../site/fediverse.js";
import type { SiteFile } from "./write-files.js";

/** Read by Netlify's Frameworks API. Other tools may write to it, too. */
const CONFIG = ".netlify/v1/config.json";
/** The rules that this plugin added, so that the next build can remove them. Netlify ignores this file. */
const RECORD = ".netlify/v1/twtxt-headers.json";

/** Headers of one path, in the format of Netlify's Frameworks API. */
export interface HeaderRule {
  for: string;
  values: Record<string, string>;
}

/** A status of one path, in the same format. */
export interface RedirectRule {
  from: string;
  to: string;
  status: number;
  /** Whether the rule applies although there is a file at the path. */
  force: boolean;
}

/** The rules that the plugin adds to Netlify's configuration. Redirects with `!` come before those of the site. */
export interface NetlifyRules {
  headers: readonly HeaderRule[];
  "redirects!": readonly RedirectRule[];
}

/** Netlify compares the path of each request with each rule. More pages share a rule for all paths. */
const MAX_PAGES = 100;

/**
 * The headers of the feed, of the discovery documents, and of pages that cannot have a `<link>` to the endpoint.
 *
 * @param withoutHead - the paths of these pages; one with `*` or `:` would be a pattern
 * @see PROTOCOL 1.1, 2.2, 3.1
 */
export function headerRules(
  feed: readonly SiteFile[],
  discovery: readonly SiteFile[],
  webmention: string | null,
  withoutHead: readonly string[] = [],
): HeaderRule[] {
  // Netlify splits header values at commas, even inside URLs.
  const endpoint = webmention?.replaceAll(",", "%2C");
  const link = endpoint ? { Link: `<${endpoint}>; rel="webmention"` } : {};
  const linked = withoutHead.length > MAX_PAGES ? ["/*"] : withoutHead.filter((path) => !/[*:]/.test(path));
  const anyone = { "Access-Control-Allow-Origin": "*" };
  const types = new Map<string, string>(Object.values(FEDIVERSE_DOCUMENTS).map(({ path, type }) => [path, type]));
  return [
    ...feed.map(({ path }) => ({
      for: path,
      values: { "Content-Type": "text/plain; charset=utf-8", ...link, ...anyone },
    })),
    ...discovery.map(({ path }) => ({
      for: path,
      values: { "Content-Type": types.get(path) ?? "application/json", ...anyone },
    })),
    ...linked.map((path) => ({ for: path, values: link })),
  ];
}

/** The rules by which the pages of deleted posts are answered with 410. A path with `*` or `:` would be a pattern. */
export function deletedRules(paths: readonly string[]): RedirectRule[] {
  return paths
    .filter((path) => !/[*:]/.test(path))
    .map((path) => ({ from: path, to: path.replace(/\/$/, "/index.html"), status: 410, force: true }));
}

/**
 * Adds the rules to those of other tools, and removes those of an earlier build.
 *
 * @param rules - empty for other hosts
 */
export async function writeNetlifyConfig(root: string, rules: NetlifyRules): Promise<void> {
  const [file, record] = [join(root, CONFIG), join(root, RECORD)];
  const before = (await readJson(record)) ?? {};
  const isEmpty = Object.values(rules).every(({ length }) => length === 0);
  if (isEmpty && Object.keys(before).length === 0) return;

  const { headers, "redirects!": redirects, ...config } = (await readJson(file)) ?? {};
  const all = {
    headers: merged(headers, before.headers, rules.headers, "for"),
    "redirects!": merged(redirects, before["redirects!"], rules["redirects!"], "from"),
  };
  await writeJson(file, { ...config, ...withoutEmpty(all) });
  await writeJson(record, withoutEmpty({ ...rules }));
}

/** @param key - the property with the path of a rule; a rule of the plugin replaces others of the same path */
function merged<Rule extends object>(now: unknown, before: unknown, own: readonly Rule[], key: keyof Rule): Rule[] {
  const paths = new Set(own.map((rule) => rule[key]));
  const isOwn = (rule: Rule) =>
    paths.has(rule?.[key]) || readRules<Rule>(before).some((old) => isDeepStrictEqual(old, rule));
  return [...readRules<Rule>(now).filter((rule) => !isOwn(rule)), ...own];
}

function withoutEmpty(rules: Record<string, readonly object[]>): Record<string, readonly object[]> {
  return Object.fromEntries(Object.entries(rules).filter(([, { length }]) => length > 0));
}

function readRules<Rule>(value: unknown): Rule[] {
  return Array.isArray(value) ? value : [];
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

async function writeJson(file: string, content: object): Promise<void> {
  if (Object.keys(content).length === 0) return rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
}
