// plugin/eleventy/default-host.ts: the host of a site whose options name none.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../options.js";

/** Set by Netlify's builds; the last two by its commands on the author's machine. */
const NETLIFY_VARIABLES = ["NETLIFY", "NETLIFY_LOCAL", "NETLIFY_DEV"];
/** Set by the builds of hosts that serve files alone. */
const OTHER_VARIABLES = ["VERCEL", "CF_PAGES"];
/** Read by such hosts. Starters such as eleventy-base-blog have several of them, and netlify.toml as well. */
const OTHER_FILES = ["vercel.json", "wrangler.toml", "wrangler.json", "wrangler.jsonc", "CNAME", "public/CNAME"];
const WORKFLOWS = ".github/workflows";
/** The actions and the branch by which workflows publish to GitHub Pages. */
const GITHUB_PAGES = /deploy-pages|upload-pages-artifact|github-pages|gh-pages/i;

/** The host of a site, and why it was taken. */
export interface HostChoice {
  name: NonNullable<Settings["host"]>;
  /** Completes a sentence after "because"; `null` where the options name the host. */
  reason: string | null;
}

/**
 * Finds out what serves a site.
 *
 * @param root - the project's root
 * @see PROTOCOL 7
 */
export function guessHost(root: string, environment: Readonly<Record<string, string | undefined>>): HostChoice {
  const isSet = (name: string) => Boolean(environment[name]);
  const isThere = (name: string) => existsSync(join(root, name));

  const netlify = NETLIFY_VARIABLES.find(isSet);
  if (netlify) return { name: "netlify", reason: `the environment variable ${netlify} is set` };
  const variable = OTHER_VARIABLES.find(isSet);
  if (variable) return { name: "static", reason: `the environment variable ${variable} is set` };
  const file = OTHER_FILES.find(isThere);
  if (file) return { name: "static", reason: `${file} exists` };
  const workflow = pagesWorkflow(join(root, WORKFLOWS));
  if (workflow) return { name: "static", reason: `${WORKFLOWS}/${workflow} publishes to GitHub Pages` };
  return isThere("netlify.toml")
    ? { name: "netlify", reason: "netlify.toml exists" }
    : { name: "static", reason: "nothing here names another" };
}

/** The name of a workflow that publishes to GitHub Pages, if there is one. */
function pagesWorkflow(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const workflows = files.map(({ name }) => name).filter((name) => /\.ya?ml$/.test(name));
  return workflows.sort().find((name) => GITHUB_PAGES.test(readFileSync(join(folder, name), "utf8")));
}
