// plugin/eleventy/netlify-functions.ts: the functions of a site at Netlify, as files that its own bundler takes up.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Settings } from "../options.js";
import {
  basesOf,
  type Capability,
  type EndpointFunction,
  pathsOf,
  type SiteRoute,
  siteRoutes,
} from "../site/routes.js";
import type { HostSettings, PublishedSite } from "../site/site.js";
import { inboxPath, mentionsOptions } from "./served-options.js";
import type { SiteFile } from "./site-files.js";
import type { SiteUrls } from "./site-urls.js";

/** Where Netlify's Frameworks API looks for functions, from the project's root. */
const FOLDER = ".netlify/v1/functions";
const PACKAGE = "eleventy-plugin-twtxt";
const PAGES = "twtxt-pages.json";
const HERE = fileURLToPath(new URL("../../", import.meta.url));

/** An array: a single name would silently become "domain". Netlify's free plan has two rate limits. */
const RATE_LIMIT = { windowLimit: 60, windowSize: 60, aggregateBy: ["ip", "domain"] };

type FunctionName = EndpointFunction | "deploy-succeeded" | "scheduled";

/** A function on Netlify, called at its paths, by its schedule or with its event. */
export interface NetlifyFunction {
  name: FunctionName;
  /** The file `netlify/functions/<module>.ts`. */
  module: Capability | "jobs";
  /** The export of the module. */
  factory: string;
  paths: string[];
  config: { schedule?: string; rateLimit?: typeof RATE_LIMIT };
  /** The event of Netlify's that it is called with. */
  event?: "deploySucceeded";
}

/** The functions that answer at the endpoints, with the capability and the rate limit of each. */
const ENDPOINTS = new Map<EndpointFunction, SiteRoute>(siteRoutes().map((route) => [route.netlify, route]));
const NAMES: FunctionName[] = [...ENDPOINTS.keys(), "deploy-succeeded", "scheduled"];

/** The functions of a site. */
export function functionsOf(
  settings: Settings,
  urls: Pick<SiteUrls, "href" | "hasReceiver" | "hasInbox" | "hasBlobs">,
): NetlifyFunction[] {
  const { path, everyHours } = mentionsOptions(settings);
  const bases = basesOf({ webmention: path, inbox: inboxPath(settings) });
  const isOn = { mentions: urls.hasReceiver(), inbox: urls.hasInbox(), blobs: urls.hasBlobs() };
  const endpoints = [...ENDPOINTS].filter(([, { capability }]) => isOn[capability]);
  return [
    ...endpoints.map(([name, { capability, rateLimit }]): NetlifyFunction => {
      const paths = pathsOf(name, bases);
      return {
        name,
        module: capability,
        factory: capability,
        // A proxy in front of the site may remove the path prefix.
        paths: [...new Set([...paths, ...paths.map((path) => urls.href(path))])],
        config: rateLimit ? { rateLimit: RATE_LIMIT } : {},
      };
    }),
    {
      name: "deploy-succeeded",
      module: "jobs",
      factory: "deploySucceeded",
      paths: [],
      config: {},
      event: "deploySucceeded",
    },
    { name: "scheduled", module: "jobs", factory: "scheduled", paths: [], config: { schedule: cron(everyHours) } },
  ];
}

/**
 * The files of these functions and of the list that they share.
 *
 * @param root - the project's root
 */
export function functionFiles(functions: readonly NetlifyFunction[], site: PublishedSite, root: string): SiteFile[] {
  if (functions.length === 0) return [];
  const bundle = bundleSeenFrom(join(root, FOLDER));
  return [
    ...functions.map((one) => ({
      path: fileOf(one.name),
      content: source(one, site.settings, `${bundle}/${one.module}.js`),
    })),
    { path: PAGES, content: JSON.stringify(site.pages) },
  ];
}

/** Writes them and removes those of an earlier build: outside of Netlify's own build, nothing else empties the folder. */
export async function writeFunctions(root: string, files: readonly SiteFile[]): Promise<void> {
  const folder = join(root, FOLDER);
  const gone = [...NAMES.map(fileOf), PAGES].filter((name) => !files.some(({ path }) => path === name));
  await Promise.all(gone.map((name) => rm(join(folder, name), { force: true })));
  if (files.length === 0) return;
  await mkdir(folder, { recursive: true });
  await Promise.all(files.map(({ path, content }) => writeChanged(join(folder, path), content)));
}

/** `netlify dev` bundles a function anew whenever its file is written. */
async function writeChanged(file: string, content: string): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => null);
  if (before !== content) await writeFile(file, content);
}

function fileOf(name: FunctionName): string {
  return `twtxt-${name}.mjs`;
}

/** Netlify reads `config` and the event's name from the source text, so both stand there literally. */
function source({ factory, paths, config, event }: NetlifyFunction, settings: HostSettings, bundle: string): string {
  const made = `${factory}(${JSON.stringify(settings)}, pages)`;
  const routes = paths.length > 0 ? { path: paths } : {};
  return `// Written by ${PACKAGE} at each build.
import { ${factory} } from ${JSON.stringify(bundle)};
import pages from "./${PAGES}" with { type: "json" };

export default ${event ? `{ ${event}: ${made} }` : made};

export const config = ${JSON.stringify({ ...routes, ...config, generator: PACKAGE })};
`;
}

/**
 * Where the functions find our bundle. By the package's name it stays in its chunks, which are loaded when they are
 * needed. Where that name does not lead here, as for the dependency of a dependency under pnpm, a path serves: Netlify
 * then makes one file of it all.
 */
function bundleSeenFrom(folder: string): string {
  const bundle = join(HERE, "dist/netlify");
  try {
    const found = createRequire(join(folder, "x.mjs")).resolve(`${PACKAGE}/netlify/mentions.js`);
    if (relative(dirname(found), bundle) === "") return `${PACKAGE}/netlify`;
  } catch {
    // It is not installed by this name.
  }
  return relative(folder, bundle).split(sep).join("/");
}

/** At seven past: at the full hour, everybody's run. */
function cron(everyHours: number): string {
  if (everyHours === 1) return "7 * * * *";
  return everyHours === 24 ? "7 0 * * *" : `7 */${everyHours} * * *`;
}
