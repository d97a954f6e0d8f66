import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const isNewNode = Number(process.versions.node.split(".")[0]) > 22;
const repo = fileURLToPath(new URL("../../", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "twtxt-package-"));

// Users have only the tarball, so these tests fail if it lacks a file.
beforeAll(async () => {
  // Node.js then has its own client for fetch, and does not take the packed one, which is gone after these tests.
  await fetch("data:,");
  await run("npm", ["pack", "--pack-destination", work], { cwd: copyOfSources() });
  const tarball = join(work, readdirSync(work).find((name) => name.endsWith(".tgz")) ?? "");
  project = mkdtempSync(join(work, "project-"));
  writeFileSync(join(project, "package.json"), `{ "private": true }`);
  await install(project, tarball);
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** The sources of the package, and the files that it contains unchanged. */
const SOURCES = ["plugin", "netlify", "build", "tsconfig.json", "tsconfig.build.json", "package.json"];
const CONTENTS = ["docs", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"];

/** Packs a copy of the repository, because packing rebuilds `dist`, which other programs may be using. */
function copyOfSources(): string {
  const copy = mkdtempSync(join(work, "sources-"));
  for (const name of [...SOURCES, ...CONTENTS]) {
    cpSync(join(repo, name), join(copy, name), { recursive: true, filter: (path) => !path.endsWith("node_modules") });
  }
  symlinkSync(join(repo, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const POSTS = {
  "posts/posts.json": `{ "tags": "posts" }`,
  "posts/hello.md":
    "---\ntitle: Hello\nsummary: A first post\ndate: 2023-05-06T07:08:09Z\n---\nTo @<bob https://bob.example/twtxt.txt>.\n",
  "posts/2024-02-03-note.md": "A note with *emphasis*, a [link](/about/) and `code`.\n\n- one\n- two\n",
  "posts/later.md":
    '---\ndate: 2025-03-04T05:06:07Z\nreplyTo: "abcdefg https://bob.example/twtxt.txt"\n---\nQuite so.\n',
};

const FEED = `# nick = alice
# url = https://alice.example/twtxt.txt
# prev = qorot5a twtxt-2023.txt

2024-02-03T00:24:15Z\tA note with *emphasis*, a [link](https://alice.example/about/) and \`code\`.\u2028\u2028- one\u2028- two
2025-03-04T05:06:07Z\t(#abcdefg) @<bob.example https://bob.example/twtxt.txt> Quite so.
`;

const ARCHIVE = `# nick = alice
# url = https://alice.example/twtxt.txt

2023-05-06T07:08:09Z\tHello: A first post https://alice.example/posts/hello/ @<bob https://bob.example/twtxt.txt>
`;

/** The size of a disk block: a file uses whole blocks. */
const BLOCK = 4096;
const MIB = 1024 * 1024;
/** The entries of `exports` that have types. */
const DECLARATIONS = ["dist/index.d.ts", "dist/messages/index.d.ts", "dist/messages/browser.d.ts"];

const CONFIGS = {
  "eleventy.config.js as an ES module": {
    "package.json": `{ "private": true, "type": "module" }`,
    "eleventy.config.js": `import twtxt from "eleventy-plugin-twtxt";
const more = JSON.parse(process.env.OPTIONS ?? "{}");
export default (eleventyConfig) => { eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice", ...more }); };`,
  },
  ".eleventy.js in CommonJS": {
    "package.json": `{ "private": true }`,
    ".eleventy.js": `const twtxt = require("eleventy-plugin-twtxt").default;
module.exports = function (eleventyConfig) { eleventyConfig.addPlugin(twtxt, { url: "https://alice.example", nick: "alice" }); };`,
  },
};

/** No server listens here, so builds read no mentions. */
const NOWHERE = "http://127.0.0.1:1";
/** Options that add pages to the site, and the files of these pages. */
const WITH_PAGES = {
  url: NOWHERE,
  key: "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077",
  host: "netlify",
};
const OWN_FILES = ["contact/index.html", "mentions/index.html", "mentions/twtxt-mentions.js"];

const INSTALLED_ELEVENTY = JSON.parse(read("package.json")).devDependencies["@11ty/eleventy"];

/** A project that contains only the packed package. */
let project = "";
const packed = (path: string) => join(project, "node_modules/eleventy-plugin-twtxt", path);
const eleventies = new Map([[INSTALLED_ELEVENTY, Promise.resolve(join(repo, "node_modules/@11ty"))]]);

/** The folder `@11ty` of a version of Eleventy that is installed separately, so that the package cannot use Eleventy's dependencies. */
function eleventyFolder(version: string): Promise<string> {
  const known = eleventies.get(version) ?? installEleventy(version);
  eleventies.set(version, known);
  return known;
}

async function installEleventy(version: string): Promise<string> {
  const folder = mkdtempSync(join(work, "eleventy-"));
  writeFileSync(join(folder, "package.json"), `{ "private": true }`);
  await install(folder, `@11ty/eleventy@${version}`);
  return join(folder, "node_modules/@11ty");
}

function install(folder: string, name: string) {
  return run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", name], { cwd: folder });
}

function build(site: string, options: object = {}) {
  const env = { ...process.env, NETLIFY: "", OPTIONS: JSON.stringify(options) };
  return run(process.execPath, ["node_modules/@11ty/eleventy/cmd.cjs", "--quiet"], { cwd: site, env });
}

describe("the packed package in a fresh site", () => {
  it.each([
    ["eleventy.config.js as an ES module", INSTALLED_ELEVENTY],
    [".eleventy.js in CommonJS", INSTALLED_ELEVENTY],
    ["eleventy.config.js as an ES module", "3.0.0"],
    [".eleventy.js in CommonJS", "3.0.0"],
    // This version needs Node 22.15.
    ...(isNewNode ? ([["eleventy.config.js as an ES module", "4.0.0-alpha.10"]] as const) : []),
  ] as const)("writes the same feed, byte for byte, and its own pages: %s, Eleventy %s", async (config, eleventy) => {
    const site = mkdtempSync(join(work, "site-"));
    for (const [path, content] of Object.entries({ ...CONFIGS[config], ...POSTS })) {
      mkdirSync(dirname(join(site, path)), { recursive: true });
      writeFileSync(join(site, path), content);
    }
    mkdirSync(join(site, "node_modules"));
    symlinkSync(packed(""), join(site, "node_modules/eleventy-plugin-twtxt"));
    symlinkSync(await eleventyFolder(eleventy), join(site, "node_modules/@11ty"));
    await build(site);
    expect(readFileSync(join(site, "_site/twtxt.txt"), "utf8")).toBe(FEED);
    expect(readFileSync(join(site, "_site/twtxt-2023.txt"), "utf8")).toBe(ARCHIVE);

    // The rest depends on Eleventy's version, not on the format of its configuration.
    if (config === ".eleventy.js in CommonJS") return;
    rmSync(join(site, "_site"), { recursive: true });
    await build(site, WITH_PAGES);
    expect(OWN_FILES.filter((file) => existsSync(join(site, "_site", file)))).toEqual(OWN_FILES);
  });
});

describe("the packed package in an empty project", () => {
  it("adds fewer packages and MiB than the README says", async () => {
    const { stdout } = await run("npm", ["ls", "--all", "--parseable"], { cwd: project });
    const packages = stdout.trim().split("\n").length - 1;
    const [, most, megabytes] = /fewer than\s+(\d+)\s+packages\s+and\s+(\d+)\s+MiB/.exec(read("README.md")) ?? [];

    expect([Number(most), Number(megabytes)]).toEqual([100, 30]);
    expect(packages).toBeLessThan(100);
    expect(bytesBelow(join(project, "node_modules")) / MIB).toBeLessThan(30);
  });

  it("runs no install script", () => {
    const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
    const entries = Object.entries<{ hasInstallScript?: boolean }>(lock.packages);
    expect(entries.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([]);
  });

  it("has types that import only its dependencies", () => {
    const { dependencies } = JSON.parse(readFileSync(packed("package.json"), "utf8"));
    const packages = packagesOfTypes(DECLARATIONS.map(packed));
    expect([...packages].filter((name) => !name.startsWith("node:") && !(name in dependencies))).toEqual([]);
  });

  it("loads one file for a build, besides the error class that other entries share", () => {
    const imports = [...readFileSync(packed("dist/index.js"), "utf8").matchAll(/^import .* from "(\.[^"]*)";$/gm)];
    expect(new Set(imports.map(([, file]) => file))).toEqual(new Set(["./errors.js"]));
    expect(existsSync(packed("dist/eleventy/site-build.js"))).toBe(false);
    const network = readFileSync(packed("dist/http/build-network.js"), "utf8").matchAll(
      /^import .* from "([^"]*)";$/gm,
    );
    const files = [...network].map(([, file = ""]) => file);
    expect(new Set(files.filter((file) => file.startsWith(".")))).toEqual(new Set(["../errors.js"]));
    expect(files).not.toContain("undici");
  });

  it("reads a page and its microformats with the parsers in its bundles", async () => {
    const { parseHtml, walkElements } = await import(packed("dist/http/parse-html.js"));
    const { readCard } = await import(packed("dist/mentions/verify/microformats.js"));
    const { tree } = await parseHtml(`<p class="h-card"><a class="u-url" href="/bob/">Bob</a></p>`);
    const card = [...walkElements(tree)].find(({ tagName }) => tagName === "p");
    expect(await readCard(card, "https://bob.example/")).toMatchObject({
      name: "Bob",
      url: "https://bob.example/bob/",
    });
  });

  it("contains the licence and version of each bundled package", () => {
    const notices = ["dist/LICENSES.txt", "dist/netlify/LICENSES.txt"].map((file) =>
      readFileSync(packed(file), "utf8"),
    );
    for (const name of ["parse5", "microformats-parser", "rehype-remark", "hono"]) {
      expect(notices[0]).toMatch(new RegExp(`^${name} \\d.* \\(MIT\\)\\n\\n.+`, "m"));
    }
    for (const name of ["@netlify/blobs", "@netlify/functions"]) {
      expect(notices[1]).toMatch(new RegExp(`^${name} \\d.* \\(MIT\\)\\n\\n.+`, "m"));
    }
  });

  it("names its repository, and where to report bugs and vulnerabilities", () => {
    const { repository, bugs } = JSON.parse(readFileSync(packed("package.json"), "utf8"));
    expect(repository.url).toMatch(/^git\+https:\/\//);
    expect(bugs.url).toMatch(/^https:\/\//);
    expect(readFileSync(packed("SECURITY.md"), "utf8")).toContain(
      new URL("security/advisories", `${bugs.url}/..`).href,
    );
  });
});

function read(path: string): string {
  return readFileSync(join(repo, path), "utf8");
}

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK) * BLOCK, 0);
}

/** The packages that declarations import, directly or through other declarations. */
function packagesOfTypes(open: string[], seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  for (let file = open.pop(); file; file = open.pop()) {
    if (seen.has(file) || !existsSync(file)) continue;
    seen.add(file);
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      if (name.startsWith(".")) open.push(resolve(dirname(file), name.replace(/\.js$/, ".d.ts")));
      else packages.add(name);
    }
  }
  return packages;
}
