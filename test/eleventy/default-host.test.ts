import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { guessHost } from "../../plugin/eleventy/build-environment.js";
import { post, site } from "../helpers/site.js";
import { projectFile } from "./read-build.js";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "twtxt-host-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const TOML = { "netlify.toml": "" };
const PAGES = "jobs:\n  deploy:\n    steps:\n      - uses: actions/deploy-pages@v4\n";
const GH_PAGES = "steps:\n  - uses: peaceiris/actions-gh-pages@v4\n";

describe("the host of a site without the option host", () => {
  it.each<[string, Record<string, string>, Record<string, string>, string]>([
    ["netlify", TOML, {}, "netlify.toml exists"],
    ["netlify", {}, { NETLIFY: "true" }, "the environment variable NETLIFY is set"],
    ["netlify", { ...TOML, "vercel.json": "{}" }, { NETLIFY: "true" }, "the environment variable NETLIFY is set"],
    ["netlify", { "vercel.json": "{}" }, { NETLIFY_DEV: "true" }, "the environment variable NETLIFY_DEV is set"],
    ["static", TOML, { VERCEL: "1" }, "the environment variable VERCEL is set"],
    ["static", TOML, { CF_PAGES: "1" }, "the environment variable CF_PAGES is set"],
    ["static", { ...TOML, "vercel.json": "{}" }, {}, "vercel.json exists"],
    ["static", { ...TOML, "wrangler.toml": "" }, {}, "wrangler.toml exists"],
    ["static", { ...TOML, "wrangler.jsonc": "" }, {}, "wrangler.jsonc exists"],
    ["static", { ...TOML, CNAME: "alice.example" }, {}, "CNAME exists"],
    ["static", { ...TOML, "public/CNAME": "alice.example" }, {}, "public/CNAME exists"],
    [
      "static",
      { ...TOML, ".github/workflows/deploy.yml": PAGES },
      { GITHUB_ACTIONS: "true" },
      ".github/workflows/deploy.yml publishes to GitHub Pages",
    ],
    [
      "static",
      { ...TOML, ".github/workflows/site.yaml": GH_PAGES },
      {},
      ".github/workflows/site.yaml publishes to GitHub Pages",
    ],
    [
      "netlify",
      { ...TOML, ".github/workflows/test.yml": "run: npm test\n" },
      { GITHUB_ACTIONS: "true" },
      "netlify.toml exists",
    ],
    ["netlify", { ...TOML, ".github/workflows/gh-pages.yml.sample": GH_PAGES }, {}, "netlify.toml exists"],
    ["static", {}, {}, "no file or variable indicates another host"],
  ])("is %s with the files %j and the environment %j", (name, files, environment, reason) => {
    expect(guessHost(folderWith(files), environment)).toEqual({ name, reason });
  });

  it("is static for the starter with files for several hosts, and the build log explains why", async () => {
    const files = {
      ...TOML,
      "vercel.json": "{}",
      "posts/a.md": post({ date: "2026-01-02", tags: "posts" }, "A note."),
    };
    const built = await site({ files });
    expect(built.read("twtxt.txt")).not.toContain("# webmention");
    expect(projectFile(built, ".netlify/v1/config.json")).toBeNull();
    const line =
      'Built for the host "static" (only files), because vercel.json exists. To choose another, set the option host to "netlify", "node" or "static".';
    expect(built.log).toContain(`[eleventy-plugin-twtxt] ${line}\n`);

    const chosen = await site({ site: built, files: {}, options: `{ host: "static" }` });
    expect(chosen.log).not.toContain("Built for the host");
  });
});
