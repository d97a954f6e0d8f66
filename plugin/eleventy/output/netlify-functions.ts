// plugin/eleventy/output/netlify-functions.ts: files of the Netlify functions, and conflicts with those of the site.
import { writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import {
  type Capability,
  type EndpointFunction,
  listCapabilities,
  listPaths,
  type SiteRoute,
  siteRoutes,
} from "../../site/routes.js";
import type { HostSettings, PublishedSite } from "../../site/site.js";
import type { SiteUrls } from "../site-urls.js";
import type { SiteFile } from "./write-files.js";

/** The folder of functions in Netlify's Frameworks API, from the project's root. */
const FOLDER = ".netlify/v1/functions";
const PACKAGE = "eleventy-plugin-twtxt";
const HOST = "twtxt-host.json";

/** `aggregateBy` is an array, because Netlify silently turns a single name into "domain". The free plan has two rate limits. */
export const RATE_LIMIT = { windowLimit: 60, windowSize: 60, aggregateBy: ["ip", "domain"] };

type FunctionName = EndpointFunction | "deploy-succeeded" | "scheduled";

/** A function on Netlify, called at its paths, by its schedule or by its event. */
interface NetlifyFunction {
  name: FunctionName;
  /** The file `netlify/functions/<module>.ts`. */
  module: Capability | "jobs";
  factory: string;
  paths: readonly string[];
  config: { schedule?: string; rateLimit?: typeof RATE_LIMIT; preferStatic?: true };
  event?: "deploySucceeded";
}

/** The functions of these capabilities, each with its first route. */
function listEndpoints(capabilities?: readonly Capability[]): Map<EndpointFunction, SiteRoute> {
  return new Map(
    siteRoutes(capabilities)
      .toReversed()
      .map((route) => [route.netlify, route]),
  );
}

const NAMES: FunctionName[] = [...listEndpoints().keys(), "deploy-succeeded", "scheduled"];

export function listFunctions(settings: HostSettings, urls: Pick<SiteUrls, "bases" | "href">): NetlifyFunction[] {
  const capabilities = listCapabilities(settings);
  const jobs = { module: "jobs", paths: [] } as const;
  return [
    ...[...listEndpoints(capabilities)].map(([name, route]) =>
      endpointFunction(name, route, listPaths(name, urls.bases, capabilities), urls),
    ),
    { ...jobs, name: "deploy-succeeded", factory: "deploySucceeded", config: {}, event: "deploySucceeded" },
    { ...jobs, name: "scheduled", factory: "scheduled", config: { schedule: cron(settings.mentions.everyHours) } },
  ];
}

function endpointFunction(
  name: EndpointFunction,
  { capability, rateLimit, isStaticFirst }: SiteRoute,
  paths: readonly string[],
  urls: Pick<SiteUrls, "href">,
): NetlifyFunction {
  return {
    name,
    module: capability,
    factory: capability,
    // A proxy in front of the site may remove the path prefix.
    paths: [...new Set([...paths, ...paths.map((path) => urls.href(path))])],
    config: { ...(rateLimit && { rateLimit: RATE_LIMIT }), ...(isStaticFirst && { preferStatic: true }) },
  };
}

/**
 * The files of these functions, and a file with the settings and pages of the site, which they share. Most builds change only
 * that file: `netlify dev` may drop a second change to what a function imports.
 */
export function functionFiles(
  functions: readonly NetlifyFunction[],
  site: PublishedSite,
  { root, packageFolder }: { root: string; packageFolder: string },
): SiteFile[] {
  if (functions.length === 0) return [];
  const ours = relative(join(root, FOLDER), packageFolder).split(sep).join("/");
  return [
    ...functions.map((one) => ({ path: toFileName(one.name), content: source(one, ours) })),
    { path: HOST, content: JSON.stringify(site) },
  ];
}

/** Writes the files and removes those of an earlier build, because only builds on Netlify start with an empty folder. */
export async function writeFunctions(root: string, files: readonly SiteFile[]): Promise<void> {
  const folder = join(root, FOLDER);
  const stale = [...NAMES.map(toFileName), HOST].filter((name) => !files.some(({ path }) => path === name));
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
  if (files.length === 0) return;
  await mkdir(folder, { recursive: true });
  await Promise.all(files.map(({ path, content }) => writeChanged(join(folder, path), content)));
}

/**
 * Writes a file only if its content is different, and without a pause in which it is empty: `netlify dev` loads the functions again
 * at each change that it sees, and no longer sees a file that was renamed.
 */
async function writeChanged(file: string, content: string): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => null);
  if (before !== content) writeFileSync(file, content);
}

function toFileName(name: FunctionName): string {
  return `twtxt-${name}.mjs`;
}

/**
 * Netlify reads `config` and the event's name from the source, so both must be literals. It copies the included files as they
 * are: the bundle is complete, and its chunks are loaded when they are needed.
 *
 * @param ours - the folder of the package, seen from that of the functions
 */
function source({ module, factory, paths, config, event }: NetlifyFunction, ours: string): string {
  const handler = `${factory}(host.settings, host.pages)`;
  const routes = paths.length > 0 ? { path: paths } : {};
  const files = { nodeBundler: "none", includedFiles: [HOST, `${ours}/package.json`, `${ours}/dist/netlify/**/*.js`] };
  return `// Written by ${PACKAGE} at each build.
import { createRequire } from "node:module";
import { ${factory} } from ${JSON.stringify(`${ours}/dist/netlify/${module}.js`)};

const host = createRequire(import.meta.url)("./${HOST}");

export default ${event ? `{ ${event}: ${handler} }` : handler};

export const config = ${JSON.stringify({ ...routes, ...config, ...files, generator: PACKAGE })};
`;
}

/** Runs at minute 7, because most schedules run on the hour. */
function cron(everyHours: number): string {
  if (everyHours === 1) return "7 * * * *";
  return everyHours === 24 ? "7 0 * * *" : `7 */${everyHours} * * *`;
}

/** The default folder of the site's own functions. */
const SITE_FUNCTIONS = "netlify/functions";
/** `functions.directory` in `netlify.toml`, or its older name `build.functions`. */
const FOLDER_OPTION = /^\s*(?:directory|functions)\s*=\s*["']([^"']+)["']/m;
const CODE = /\.[cm]?[jt]s$/;
const PATH_OPTION = /\bpath\s*:\s*(\[[^\]]*\]|"[^"]*"|'[^']*'|`[^`]*`)/g;
const QUOTED = /["'`]([^"'`]*)["'`]/g;

/**
 * Finds functions of the site with the name or a path of a plugin function: Netlify silently uses one of the two. Only
 * paths that are literal in the source are found.
 *
 * @returns a warning for each
 */
export async function functionConflicts(root: string, functions: readonly NetlifyFunction[]): Promise<string[]> {
  const toml = await readFile(join(root, "netlify.toml"), "utf8").catch(() => "");
  const folder = FOLDER_OPTION.exec(toml)?.[1] ?? SITE_FUNCTIONS;
  const files = await readdir(join(root, folder), { recursive: true }).catch(() => []);
  const sources = files.filter((file) => CODE.test(file) && !file.includes("node_modules")).sort();
  const conflicts = sources.map(async (file) => {
    const source = await readFile(join(root, folder, file), "utf8").catch(() => "");
    // A function is named after its file or folder.
    const name = file.split(/[\\/]/)[0]?.replace(CODE, "");
    const isNameTaken = functions.some((one) => `twtxt-${one.name}` === name);
    const taken = readPaths(source).filter((path) => functions.some(({ paths }) => paths.includes(path)));
    return [
      ...(isNameTaken ? ["has the same name as a function of the plugin, so Netlify ignores one of them"] : []),
      ...taken.map((path) => `has the path ${path}, like a function of the plugin`),
    ].map((what) => `${folder}/${file} ${what}. Change yours, or set the option "functions" to false.`);
  });
  return (await Promise.all(conflicts)).flat();
}

function readPaths(source: string): string[] {
  return [...source.matchAll(PATH_OPTION)].flatMap(([, list = ""]) =>
    [...list.matchAll(QUOTED)].map(([, path = ""]) => path),
  );
}
