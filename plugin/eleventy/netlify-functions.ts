// plugin/eleventy/netlify-functions.ts: the functions of a site at Netlify, as files that its own bundler takes up.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Settings } from "../options.js";
import type { HostSettings, SitePages } from "./host-settings.js";
import { BLOBS_PATH, inboxPath, mentionsOptions, SHARED_PATH } from "./served-options.js";
import type { SiteFile } from "./site-files.js";
import type { SiteUrls } from "./site-urls.js";

/** Where Netlify's Frameworks API looks for functions, from the project's root. */
const FOLDER = ".netlify/v1/functions";
const PACKAGE = "eleventy-plugin-twtxt";
const PAGES = "twtxt-pages.json";
const HERE = fileURLToPath(new URL("../../", import.meta.url));

/** The names of our functions. Each is `twtxt-<name>.mjs` there, and made by what `netlify/functions/<name>.ts` exports. */
const NAMES = [
  "mention",
  "mentions-json",
  "mentions-feed",
  "mentions-api",
  "inbox",
  "blob",
  "deploy-succeeded",
  "scheduled",
] as const;

const API = "/api/v1/mentions";
/** An array: a single name would silently become "domain". */
const RATE_LIMIT = { windowLimit: 60, windowSize: 60, aggregateBy: ["ip", "domain"] };

/** A function of Netlify's, which is called at its paths, by its schedule or with its event. */
export interface NetlifyFunction {
  name: (typeof NAMES)[number];
  /** What the implementation exports. */
  factory: string;
  paths: string[];
  config: { schedule?: string; rateLimit?: typeof RATE_LIMIT };
  /** The event of Netlify's that it is called with. */
  event?: "deploySucceeded";
}

/** The functions of a site. Of rate limits, a free project is allowed two. */
export function functionsOf(
  settings: Settings,
  urls: Pick<SiteUrls, "href" | "hasReceiver" | "hasInbox" | "hasBlobs">,
): NetlifyFunction[] {
  const { path, everyHours } = mentionsOptions(settings);
  // A proxy in front of the site may take the prefix off.
  const at = (...paths: string[]) => [...new Set([...paths, ...paths.map((path) => urls.href(path))])];
  const receivers: NetlifyFunction[] = [
    { name: "mention", factory: "mention", paths: at(path), config: { rateLimit: RATE_LIMIT } },
    { name: "mentions-json", factory: "mentionsJson", paths: at("/mentions.json"), config: {} },
    { name: "mentions-feed", factory: "mentionsFeed", paths: at("/mentions.txt"), config: {} },
    { name: "mentions-api", factory: "mentionsApi", paths: at(API, `${API}/*`), config: {} },
  ];
  const inbox = inboxPath(settings);
  const inboxes: NetlifyFunction[] = [
    {
      name: "inbox",
      factory: "inbox",
      paths: at(`${inbox}/:user`, `${inbox}/:user/:id`),
      config: { rateLimit: RATE_LIMIT },
    },
  ];
  const blobs: NetlifyFunction[] = [
    { name: "blob", factory: "blob", paths: at(BLOBS_PATH, `${BLOBS_PATH}/*`, `${SHARED_PATH}/*`), config: {} },
  ];
  return [
    ...(urls.hasReceiver() ? receivers : []),
    ...(urls.hasInbox() ? inboxes : []),
    ...(urls.hasBlobs() ? blobs : []),
    { name: "deploy-succeeded", factory: "deploySucceeded", paths: [], config: {}, event: "deploySucceeded" },
    { name: "scheduled", factory: "scheduled", paths: [], config: { schedule: cron(everyHours) } },
  ];
}

/**
 * The files of these functions and of the list that they share.
 *
 * @param root - the project's root
 */
export function functionFiles(
  functions: readonly NetlifyFunction[],
  site: { settings: HostSettings; pages: SitePages },
  root: string,
): SiteFile[] {
  if (functions.length === 0) return [];
  const bundle = bundleSeenFrom(join(root, FOLDER));
  return [
    ...functions.map((one) => ({
      path: fileOf(one.name),
      content: source(one, site.settings, `${bundle}/${one.name}.js`),
    })),
    { path: PAGES, content: JSON.stringify(site.pages) },
  ];
}

/** Writes them, and removes those of an earlier build: outside of a build of Netlify's nobody empties the folder. */
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

function fileOf(name: NetlifyFunction["name"]): string {
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
    const found = createRequire(join(folder, "x.mjs")).resolve(`${PACKAGE}/netlify/mention.js`);
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
