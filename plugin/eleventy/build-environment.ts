// plugin/eleventy/build-environment.ts: the machine that a build runs on, and the default of the option `host`.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock.js";
import type { FollowedFeed } from "../options/follow.js";
import type { Settings } from "../options.js";
import type { HtmlReader } from "../text/text-from-post.js";

export interface BuildEnvironment {
  now: Clock;
  root: string;
  host: HostChoice;
  packageFolder: string;
  /** Loads the HTML parser. */
  htmlReader(): HtmlReader;
  /** Reads a bundled script or stylesheet for pages, such as `twtxt-mentions.js`. */
  readAsset(file: string): Promise<string>;
  /** Name and version of this package. */
  client: string;
  /** The path of the file of followed feeds, and those in the option `follow`. */
  followed: { file: string; option: readonly FollowedFeed[] };
}

/** Set by builds on Netlify; the last two by Netlify's command line. */
const NETLIFY_VARIABLES = ["NETLIFY", "NETLIFY_LOCAL", "NETLIFY_DEV"];
const OTHER_VARIABLES = ["VERCEL", "CF_PAGES"];
/** Configuration of static hosts. Starters such as eleventy-base-blog have several of these in addition to netlify.toml. */
const OTHER_FILES = ["vercel.json", "wrangler.toml", "wrangler.json", "wrangler.jsonc", "CNAME", "public/CNAME"];
const WORKFLOWS = ".github/workflows";
const GITHUB_PAGES = /deploy-pages|upload-pages-artifact|github-pages|gh-pages/i;

export interface HostChoice {
  name: NonNullable<Settings["host"]>;
  /** Completes a sentence after "because"; `null` if the options name the host. */
  reason: string | null;
}

/** Guesses the host of a site from the environment and the project's files. @see PROTOCOL 7 */
export function guessHost(root: string, environment: Readonly<Record<string, string | undefined>>): HostChoice {
  const isSet = (name: string) => Boolean(environment[name]);
  const hasFile = (name: string) => existsSync(join(root, name));

  const netlify = NETLIFY_VARIABLES.find(isSet);
  if (netlify) return { name: "netlify", reason: `the environment variable ${netlify} is set` };
  const variable = OTHER_VARIABLES.find(isSet);
  if (variable) return { name: "static", reason: `the environment variable ${variable} is set` };
  const file = OTHER_FILES.find(hasFile);
  if (file) return { name: "static", reason: `${file} exists` };
  const workflow = pagesWorkflow(join(root, WORKFLOWS));
  if (workflow) return { name: "static", reason: `${WORKFLOWS}/${workflow} publishes to GitHub Pages` };
  return hasFile("netlify.toml")
    ? { name: "netlify", reason: "netlify.toml exists" }
    : { name: "static", reason: "no file or variable indicates another host" };
}

function pagesWorkflow(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const workflows = files.map(({ name }) => name).filter((name) => /\.ya?ml$/.test(name));
  return workflows.sort().find((name) => GITHUB_PAGES.test(readFileSync(join(folder, name), "utf8")));
}
